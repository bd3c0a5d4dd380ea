import asyncio


async def load_user(uid):
    await asyncio.sleep(0)
    return {"id": uid, "name": f"user{uid}"}


async def main():
    users = []
    for uid in (1, 2, 3):
        user = load_user(uid)
        users.append(user["name"])
    print(users)


asyncio.run(main())

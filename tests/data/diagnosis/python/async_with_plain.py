import asyncio


class Session:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


async def main():
    async with Session() as s:
        print(s)


asyncio.run(main())

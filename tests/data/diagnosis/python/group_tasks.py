import asyncio


async def job(n):
    await asyncio.sleep(0)
    if n == 2:
        raise ValueError(f"job {n} failed")
    return n


async def main():
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(job(n)) for n in range(4)]
    print([t.result() for t in tasks])


asyncio.run(main())

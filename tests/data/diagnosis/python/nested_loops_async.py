import asyncio


async def fetch(n):
    await asyncio.sleep(0.01)
    return n * n


def fetch_all(ns):
    async def gather():
        return await asyncio.gather(*(fetch(n) for n in ns))
    return asyncio.run(gather())


async def main():
    print(fetch_all([1, 2, 3]))


asyncio.run(main())

import asyncio


async def fetch(n):
    return n * n


async def main():
    print(await asyncio.gather([fetch(n) for n in range(3)]))


asyncio.run(main())

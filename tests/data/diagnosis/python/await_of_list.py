import asyncio


async def load(n):
    return n


async def main():
    return await [load(1), load(2)]


asyncio.run(main())

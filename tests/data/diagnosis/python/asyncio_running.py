import asyncio


async def fetch():
    return 1


async def main():
    print(asyncio.run(fetch()))


asyncio.run(main())

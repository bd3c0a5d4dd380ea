import asyncio


async def ticks(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


async def main():
    total = 0
    for tick in ticks(3):
        total += tick
    print(total)


asyncio.run(main())

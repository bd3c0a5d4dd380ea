import asyncio
async def g():
    try:
        yield 1
        yield 2
    finally:
        print("closed")
async def main():
    async for x in g():
        print(x)
        break
asyncio.run(main())

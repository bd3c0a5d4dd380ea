import asyncio
async def f(): return 1
async def main():
    t = asyncio.create_task(f())
    print(t + 1)
asyncio.run(main())

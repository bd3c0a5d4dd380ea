import asyncio
async def f(): return 1, 2
async def main():
    a, b = f()
asyncio.run(main())

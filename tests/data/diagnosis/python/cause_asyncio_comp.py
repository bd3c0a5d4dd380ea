import asyncio
async def f(x): return x
async def main():
    r = [f(i) for i in range(3)]
    print(sum(r))
asyncio.run(main())

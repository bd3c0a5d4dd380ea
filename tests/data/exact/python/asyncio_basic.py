import asyncio
async def f(n):
    await asyncio.sleep(0.01 * n)
    return n
async def main():
    print(await asyncio.gather(*(f(i) for i in range(4))))
    async with asyncio.timeout(1):
        await f(1)
    async with asyncio.TaskGroup() as g:
        t = g.create_task(f(2))
    print(t.result())
asyncio.run(main())

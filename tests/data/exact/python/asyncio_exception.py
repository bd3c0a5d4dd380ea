import asyncio
async def f():
    raise ValueError("in a task")
async def main():
    t = asyncio.create_task(f())
    await asyncio.sleep(0.01)
    await t
asyncio.run(main())

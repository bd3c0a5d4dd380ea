import asyncio
async def f():
    raise ValueError("nobody asks")
async def main():
    t = asyncio.create_task(f(), name="task")
    await asyncio.sleep(0.01)
    del t
asyncio.run(main())

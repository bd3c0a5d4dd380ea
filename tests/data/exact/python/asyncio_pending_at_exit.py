import asyncio
async def f():
    try:
        await asyncio.sleep(100)
    finally:
        print("cancelled")
async def main():
    asyncio.create_task(f())
    await asyncio.sleep(0.01)
asyncio.run(main())

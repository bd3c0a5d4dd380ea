import asyncio
async def main():
    s = asyncio.Semaphore(1)
    with s: pass
asyncio.run(main())

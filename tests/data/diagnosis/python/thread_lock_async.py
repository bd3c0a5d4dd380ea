import asyncio
import threading

guard = threading.Lock()


async def main():
    """Waits for the lock of threads."""
    async with guard:
        print("in")


asyncio.run(main())

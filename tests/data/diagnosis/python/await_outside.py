import asyncio


def wait():
    await asyncio.sleep(0)


wait()

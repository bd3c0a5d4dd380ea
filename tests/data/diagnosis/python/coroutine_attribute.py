import asyncio


async def load():
    return "text"


async def main():
    text = load()
    print(text.upper())


asyncio.run(main())

import asyncio


class Poller:
    def __init__(self, interval):
        self.interval = interval

    async def rate(self):
        await asyncio.sleep(0)
        return 60 / self.interval


async def worker(name, interval):
    poller = Poller(interval)
    return name, await poller.rate()


async def main():
    results = await asyncio.gather(worker("a", 5), worker("b", 0))
    print(dict(results))


asyncio.run(main())

import asyncio
loop = asyncio.new_event_loop()
print(loop.run_until_complete(asyncio.sleep(0, "x")))

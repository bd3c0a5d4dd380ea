import asyncio
async def main():
    async def serve(r, w):
        w.write((await r.readline()).upper())
        await w.drain()
        w.close()
    s = await asyncio.start_server(serve, "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*s.sockets[0].getsockname())
    w.write(b"hello\n")
    print(await r.read())
    w.close()
    s.close()
asyncio.run(main())

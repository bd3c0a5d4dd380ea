CONFIG = {
    "host": "localhost",
    "port": 8080
    "debug": True,
}


def url(conf):
    return f"http://{conf['host']}:{conf['port']}/"


print(url(CONFIG))

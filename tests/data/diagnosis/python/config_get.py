import json

TEXT = '{"server": {"host": "localhost", "port": 8080}}'


class Config:
    def __init__(self, text):
        self._data = json.loads(text)

    def __getitem__(self, path):
        node = self._data
        for part in path.split("."):
            node = node[part]
        return node


conf = Config(TEXT)
print(conf["server.host"])
print(conf["server.timeout"])

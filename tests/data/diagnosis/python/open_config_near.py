import json
from pathlib import Path


class Settings:
    def __init__(self, path):
        self.path = Path(path)
        self.values = self._read()

    def _read(self):
        return json.loads(self.path.read_text())

    def __getattr__(self, name):
        return self.values[name]


settings = Settings("setings.json")
print(settings.theme)

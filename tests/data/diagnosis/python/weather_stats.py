import json
from pathlib import Path


def load(path):
    return json.loads(Path(path).read_text())


def averages(readings):
    temps = [r["temperature"] for r in readings]
    hums = [r["humidty"] for r in readings]
    return sum(temps) / len(temps), sum(hums) / len(hums)


if __name__ == "__main__":
    print(averages(load("readings.json")))

import json
from datetime import datetime
from dataclasses import dataclass, asdict


@dataclass
class Event:
    name: str
    when: datetime


class Store:
    def __init__(self):
        self.events = []

    def dump(self):
        return json.dumps([asdict(e) for e in self.events], indent=2)


store = Store()
store.events.append(Event("launch", datetime(2024, 5, 1)))
print(store.dump())

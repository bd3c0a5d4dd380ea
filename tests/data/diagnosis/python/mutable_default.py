from dataclasses import dataclass, field


@dataclass
class Cart:
    owner: str
    items: list = []

    def add(self, item):
        self.items.append(item)


c = Cart("ada")
c.add("tea")
print(c)

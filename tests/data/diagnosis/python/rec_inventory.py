class Inventory:
    def __init__(self):
        self._items = {}

    def put(self, name, count):
        self._items[name] = {"name": name, "count": count}

    def get_item(self, name):
        if name in self._items:
            return self._items[name]
        print("no such item", name)


def restock(inv, wanted):
    for name, target in wanted.items():
        item = inv.get_item(name)
        missing = target - item.get("count", 0)
        print(name, "needs", max(0, missing))


stock = Inventory()
stock.put("pen", 3)
restock(stock, {"pen": 10, "cup": 2})

"""A menu."""

MENU = [
    ("soup", 4.5),
    ("salad", 6.0),
    ("pasta", 9.5),


def price(name):
    for item, cost in MENU:
        if item == name:
            return cost
    return None


print(price("soup"))

stock = {"apples": 3}


def in_stock(fruit):
    return stock[fruit]


print(in_stock("pears"))

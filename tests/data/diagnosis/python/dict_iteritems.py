inventory = {"apples": 3, "pears": 0, "plums": 12}


def in_stock(stock):
    return {name: n for name, n in stock.iteritems() if n > 0}


print(sorted(in_stock(inventory)))

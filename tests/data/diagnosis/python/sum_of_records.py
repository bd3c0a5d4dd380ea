orders = [{"id": 1, "net": 5}, {"id": 2, "net": 7}]
total = sum(orders)

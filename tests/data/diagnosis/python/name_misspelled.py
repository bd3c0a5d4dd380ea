def add_up(prices):
    total_price = 0
    for price in prices:
        total_price += price
    if len(prices) > 2:
        print("many:", totl_price)
    return total_price


print(add_up([3, 4, 5]))

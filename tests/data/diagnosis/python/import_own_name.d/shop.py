def calculate_total(prices):
    return sum(prices)

def total(lines, shipping):
    return sum(price for _, price in lines) + shipping

def total(items):
    result = 0
    for item in items:
        if item > 0:
	    result += item
    return result


print(total([1, -2, 3]))

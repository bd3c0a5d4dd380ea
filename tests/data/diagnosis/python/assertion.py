total = sum([1, 2, 3])
assert total == 7, f"total is {total}"

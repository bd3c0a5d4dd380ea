sizes = {"s": 1}
del sizes["xl"]

def compute(value):
    return valu + 1
compute(1)

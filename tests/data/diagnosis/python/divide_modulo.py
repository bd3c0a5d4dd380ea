def gcd(a, b):
    while b:
        a, b = b, a % b
        print(a, b)
    return a % b


print(gcd(12, 18))

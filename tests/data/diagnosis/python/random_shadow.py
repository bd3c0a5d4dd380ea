import random


def password(n):
    letters = "abcdef0123456789"
    return "".join(random.choice(letters) for _ in range(n))


print(len(password(8)))

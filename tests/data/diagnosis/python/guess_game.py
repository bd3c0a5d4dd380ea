import random

random.seed(3)


def play(secret):
    tries = 0
    while True:
        guess = int(input("Your guess: "))
        tries += 1
        if guess == secret:
            return tries
        print("too low" if guess < secret else "too high")


print("Solved in", play(42))

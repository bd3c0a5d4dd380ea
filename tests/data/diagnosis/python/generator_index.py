def primes(limit):
    sieve = [True] * (limit + 1)
    for n in range(2, limit + 1):
        if sieve[n]:
            yield n
            for multiple in range(n * n, limit + 1, n):
                sieve[multiple] = False


found = primes(50)
print("first prime:", found[0])
print("all:", list(found))

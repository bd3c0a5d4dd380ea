import functools


@functools.lru_cache(maxsize=None)
def fib(n):
    return fib(n - 1) + fib(n - 2)


def main():
    print([fib(i) for i in range(10)])


main()

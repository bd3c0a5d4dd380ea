def numbers():
    return [read() for _ in range(3)]


def read():
    return int(input())


print(sum(numbers()))

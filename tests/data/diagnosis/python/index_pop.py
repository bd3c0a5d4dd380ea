queue = [1]


def take():
    while True:
        print(queue.pop())


take()

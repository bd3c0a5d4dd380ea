class Timer:
    def __init__(self, label):
        self.label = label

    def start(self):
        print("start", self.label)


def measure(label, fn):
    with Timer(label):
        return fn()


print(measure("sum", lambda: sum(range(10))))

import functools


def logged(func):
    @functools.wraps(func)
    def wrapper():
        print("calling", func.__name__)
        return func()
    return wrapper


class Service:
    @logged
    def start(self):
        return "started"


print(Service().start())

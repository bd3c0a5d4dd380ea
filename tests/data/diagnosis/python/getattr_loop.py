class Proxy:
    def __init__(self, target):
        self._wrapped = target

    def __getattr__(self, name):
        return getattr(self.target, name)


p = Proxy([1, 2, 3])
print(p.append)

class Till:
    def __init__(self):
        self.total = 0

    def add(self, n):
        total += n


Till().add(5)

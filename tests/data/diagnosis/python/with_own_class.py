class Timer:
    def start(self):
        self.begin = 0


timer = Timer()
with timer as t:
    print(t)

class Timer:
    def start(self):
        self.began = 0


timer = Timer()
timer.reset()

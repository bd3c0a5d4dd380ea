class Writer:
    def __init__(self): self.f = open("log.txt", "w")
    def __del__(self):
        self.f.write("bye")
        self.f.close()
        print("closed", self.f.closed)
w = Writer()

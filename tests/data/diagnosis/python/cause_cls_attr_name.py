class A:
    count = 0
    def inc(self):
        count += 1
A().inc()

class A:
    def __getattr__(self, n):
        return self.data[n]
A().x

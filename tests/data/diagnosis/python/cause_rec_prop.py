class A:
    @property
    def name(self):
        return self.name
A().name

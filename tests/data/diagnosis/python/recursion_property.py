class User:
    @property
    def name(self):
        return self.name


print(User().name)

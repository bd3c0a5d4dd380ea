class Player:
    score = 0

    def _init_(self, name):
        self.name = name


p = Player("Ada")

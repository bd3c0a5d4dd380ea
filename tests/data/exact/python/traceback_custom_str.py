class E(Exception):
    def __str__(self):
        return "custom\nlines"
raise E

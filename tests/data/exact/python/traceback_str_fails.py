class E(Exception):
    def __str__(self):
        raise RuntimeError("no string")
raise E("x")

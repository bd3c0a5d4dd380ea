class E(SystemExit):
    @property
    def code(self):
        raise ValueError("no code")
raise E("x")

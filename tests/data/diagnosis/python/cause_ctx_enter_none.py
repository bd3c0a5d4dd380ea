class C:
    def __enter__(self): pass
    def __exit__(self, *a): pass
    def go(self): pass
with C() as c:
    c.go()

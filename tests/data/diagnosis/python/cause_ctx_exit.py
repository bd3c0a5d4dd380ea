class C:
    def __enter__(self): return self
    def __exit__(self): pass
with C(): pass

def f(): return self.x
f()

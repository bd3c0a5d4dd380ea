import m
m.f()

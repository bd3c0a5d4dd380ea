import contextvars
v = contextvars.ContextVar("v", default=1)
c = contextvars.copy_context()
c.run(v.set, 2)
print(v.get(), c[v], len(contextvars.copy_context()))

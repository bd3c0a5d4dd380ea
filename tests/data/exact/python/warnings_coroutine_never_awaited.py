async def f(): pass
f()
print("after")

import first

print(first.one())

import shelve
with shelve.open("s") as s:
    s["k"] = [1, 2]
s = shelve.open("s")
print(dict(s))
s["left"] = "open"

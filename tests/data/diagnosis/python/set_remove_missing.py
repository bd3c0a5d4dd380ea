seen = {"a", "b"}
for name in ["a", "z"]:
    seen.remove(name)

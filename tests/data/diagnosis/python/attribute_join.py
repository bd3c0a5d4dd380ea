parts = ["a", "b"]
print(parts.join(", "))

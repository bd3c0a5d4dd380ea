people = [{"name": "Ada"}, {"name": "Bob"}]
print(people["name"])

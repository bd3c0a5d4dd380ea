settings = {
    "debug": True,
    "level": 3,

print(settings)

def greet(name):
    return "Hello, " + name


names = ["Ada", "Bob"]
for n in names:
    print(greet(n), “welcome”)

age = 36
print("You are " + age + " years old")

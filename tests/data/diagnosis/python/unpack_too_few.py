line = "ada,36"

name, age, city = line.split(",")
print(name, age, city)

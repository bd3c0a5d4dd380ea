name = input("name? ")
age = int(input("age? "))
print(f"{name} {age}")
try:
    input("more? ")
except EOFError as e:
    print("EOF", e)

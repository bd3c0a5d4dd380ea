print("before")
x = input("? ")

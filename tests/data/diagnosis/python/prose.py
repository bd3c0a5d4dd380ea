Here is the code that you asked for:

print("hello")

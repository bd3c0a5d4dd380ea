def hello():
print("hello")


hello()

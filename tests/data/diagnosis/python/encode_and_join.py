body = "hi".encode()
print("Body: " + body)

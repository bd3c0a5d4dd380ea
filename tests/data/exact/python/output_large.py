for i in range(20000):
    print(i, "some text to make the line longer")

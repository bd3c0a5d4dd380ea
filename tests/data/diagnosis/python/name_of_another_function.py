def read():
    lines = ["a", "b"]


def show():
    for line in lines:
        print(line)


read()
show()

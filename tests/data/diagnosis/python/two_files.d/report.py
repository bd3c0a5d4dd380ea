def line(name, value):
    return name + ": " + value if name == "" else "value " + value

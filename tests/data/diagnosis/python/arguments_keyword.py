def paint(shape, color="blue"):
    return f"{shape} in {color}"


print(paint("circle", colour="red"))

text = "1,2,,4"


def numbers(line):
    for part in line.split(","):
        yield int(part)


print(list(numbers(text)))

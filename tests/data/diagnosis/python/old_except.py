def parse(text):
    try:
        return int(text)
    except ValueError, e:
        print(e)
        return None


print(parse("12"), parse("x"))

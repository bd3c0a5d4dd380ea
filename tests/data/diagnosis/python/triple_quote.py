import textwrap

WIDTH = 40


def usage():
    text = """usage: tool [options]

    -h  show this help
    -v  be verbose
    return textwrap.fill(text, WIDTH)


def main():
    print(usage())


main()

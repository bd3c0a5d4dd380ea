from helper import slug, title


def main():
    for text in ("Hello World", "a b"):
        print(slug(text), title(text))


main()

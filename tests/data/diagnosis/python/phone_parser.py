import re

PATTERN = re.compile(r"(?P<area>\d{3})-(?P<number>\d{4})")


def parse(line):
    found = PATTERN.search(line)
    return found.group("area"), found.group("number")


def main():
    book = ["alice 555-1234", "bob (unknown)", "carol 444-9999"]
    for entry in book:
        area, number = parse(entry)
        print(area, number)


main()

def render(rows, *, separator=", ", header=None):
    lines = []
    if header:
        lines.append(separator.join(header))
    for row in rows:
        lines.append(separator.join(str(cell) for cell in row))
    return "\n".join(lines)


def main():
    table = [(1, "one"), (2, "two")]
    print(render(table, header=("n", "word")))
    print(render(table, seperator=" | "))


main()

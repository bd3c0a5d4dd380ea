records = [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": []}]


def flatten(items):
    return [tag for record in items for tag in recrod["tags"]]


def main():
    tags = flatten(records)
    print(len(tags), "tags")


main()

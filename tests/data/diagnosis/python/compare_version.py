VERSIONS = {"app": "1.10", "db": 9}


def outdated(versions, minimum):
    return [name for name, v in versions.items() if v < minimum]


print(outdated(VERSIONS, 10))

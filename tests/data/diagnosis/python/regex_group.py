import re

FILTERS = ["error", "warn(ing", "info"]


def compile_all(patterns):
    return [re.compile(p, re.IGNORECASE) for p in patterns]


def matching(lines, patterns):
    rules = compile_all(patterns)
    return [line for line in lines if any(r.search(line) for r in rules)]


print(matching(["an Error", "ok"], FILTERS))

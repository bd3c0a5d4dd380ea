from collections import defaultdict


def group_by_length(words):
    groups = defaultdict(list)
    for word in words
        groups[len(word)].append(word)
    return dict(groups)


print(group_by_length(["a", "bb", "cc"]))

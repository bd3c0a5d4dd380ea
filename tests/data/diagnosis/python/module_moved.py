from collections import Iterable, OrderedDict


def flatten(items):
    for item in items:
        if isinstance(item, Iterable) and not isinstance(item, str):
            yield from flatten(item)
        else:
            yield item


print(list(flatten([1, [2, [3]]])))

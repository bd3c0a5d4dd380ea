from collections import Mapping, OrderedDict


def is_mapping(x):
    return isinstance(x, Mapping)


print(is_mapping(OrderedDict()))

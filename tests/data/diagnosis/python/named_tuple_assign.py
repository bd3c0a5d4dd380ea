from collections import namedtuple

Town = namedtuple("Town", "name size")
town = Town("Ulm", 126)
town.size += 1

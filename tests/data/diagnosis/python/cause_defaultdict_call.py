from collections import defaultdict
d = defaultdict(list())

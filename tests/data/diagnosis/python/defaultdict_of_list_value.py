from collections import defaultdict

groups = defaultdict([])

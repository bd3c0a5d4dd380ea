def group(pairs):
    groups = {}
    for point, label in pairs:
        groups[point] = groups.get(point, []) + [label]
    return groups


print(group([([0, 1], "a"), ([0, 2], "b")]))

def find_path(graph, start, goal, path=()):
    path = path + (start,)
    if start == goal:
        return path
    for node in graph.get(start, []):
        if node not in path:
            found = find_path(graph, node, goal, path)
            if found:
                return found


graph = {"a": ["b"], "b": ["c"], "c": []}
print(len(find_path(graph, "a", "c")))
print(len(find_path(graph, "a", "z")))

from collections import deque

edges = [("a", "b"), ("b", "c"), ("c", "d")]
graph = {}
for start, end in edges:
    if start not in graph:
        graph[start] = []
    graph[start].append(end)


def bfs(start):
    seen, queue = {start}, deque([start])
    while queue:
        node = queue.popleft()
        yield node
        for nxt in graph[node]:
            if nxt not in seen:
                seen.add(nxt)
                queue.append(nxt)


print(list(bfs("a")))

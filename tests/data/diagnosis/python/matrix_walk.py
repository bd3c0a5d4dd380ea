def neighbours(grid, row, col):
    total = 0
    for dr in (-1, 0, 1):
        for dc in (-1, 0, 1):
            if dr == 0 and dc == 0:
                continue
            total += grid[row + dr][col + dc]
    return total


def step(grid):
    return [[1 if neighbours(grid, r, c) == 3 else 0 for c in range(len(grid[0]))] for r in range(len(grid))]


world = [[0, 1, 0], [0, 1, 0], [0, 1, 0]]
for line in step(world):
    print(line)

def read_matrix():
    rows = int(input())
    return [list(map(int, input().split())) for _ in range(rows)]


def transpose(m):
    return [list(col) for col in zip(*m)]


if __name__ == "__main__":
    for row in transpose(read_matrix()):
        print(*row)

import select, sys
r, _, _ = select.select([sys.stdin], [], [], 5)
print(r == [sys.stdin], sys.stdin.readline())

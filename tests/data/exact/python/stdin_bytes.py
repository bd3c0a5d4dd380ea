import sys
print(sys.stdin.buffer.read(6), sys.stdin.buffer.peek(2)[:2], sys.stdin.buffer.read())

import sys
data = sys.stdin.read() * 20000
print(len(data), hash(data) == hash(data))
sys.stdout.write(data[:100000])

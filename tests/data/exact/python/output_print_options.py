import sys
print(1, 2, sep="-", end="!\n", flush=True)
print(*range(3), file=sys.stderr)
print("a\0b\x1b[1m\r\n")
sys.stdout.writelines(["x", "y\n"])

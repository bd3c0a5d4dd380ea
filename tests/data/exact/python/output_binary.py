import sys
sys.stdout.buffer.write(bytes(range(256)))
sys.stdout.write("é\n")
sys.stderr.buffer.write(b"\xff\xfe\n")

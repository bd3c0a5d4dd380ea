import subprocess
import sys


def capture(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    return done.stdout.decode("utf-8")


print(capture("print('plain')"))
print(capture("import sys; sys.stdout.buffer.write(b'\\x89PNG\\xff')"))

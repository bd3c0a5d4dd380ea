import subprocess


def run(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


print(run("echo", "hello"))
print(run("ls", "/nonexistent"))

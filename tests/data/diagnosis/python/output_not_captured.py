import subprocess

done = subprocess.run(["echo", "hi"])
for line in done.stdout.splitlines():
    print(line)

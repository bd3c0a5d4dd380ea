import subprocess

out = subprocess.check_output(["echo", "a,b"])
for part in out.split(","):
    print(part)

import subprocess
r = subprocess.run(["echo", "a"], capture_output=True, text=True)
print(r.strip())

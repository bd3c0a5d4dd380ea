import subprocess
p = subprocess.Popen(["tr", "a-z", "A-Z"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
print(p.communicate("hello"), p.returncode)

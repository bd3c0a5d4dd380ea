import subprocess
p = subprocess.Popen(["sleep", "0.1"])

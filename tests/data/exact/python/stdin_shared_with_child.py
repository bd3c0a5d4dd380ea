import os, subprocess
print(os.read(0, 6))
print(subprocess.run(["head", "-n", "1"], capture_output=True).stdout)

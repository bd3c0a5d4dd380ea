import subprocess
subprocess.run(["cat"], input="abc")

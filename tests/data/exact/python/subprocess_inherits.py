import subprocess
subprocess.run(["sh", "-c", "echo to our stdout; echo to our stderr >&2"])

import os, subprocess
print(sorted(os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")))
print(subprocess.check_output("ls /proc/self/fd | wc -l", shell=True))

import subprocess, sys
r = subprocess.run([sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(4)"], capture_output=True, text=True)
print(r)
print(subprocess.check_output("echo $0; pwd | wc -l", shell=True))

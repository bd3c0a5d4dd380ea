import subprocess, sys
code = "import signal; print([s.name for s in signal.Signals if signal.getsignal(s) == signal.SIG_IGN])"
print(subprocess.check_output([sys.executable, "-c", code], text=True))
print(subprocess.check_output("grep Sig[BIC] /proc/self/status", shell=True, text=True))

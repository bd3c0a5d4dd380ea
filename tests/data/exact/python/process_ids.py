import os
print(os.getppid() >= 0, os.getpgid(0) == os.getpid() or os.getpgid(0) >= 0, os.getsid(0) == os.getpgid(0), os.getcwd() == os.environ["PWD"])
print(os.umask(0o22), os.get_inheritable(0), os.get_blocking(0), os.nice(0), os.sched_getscheduler(0), len(os.sched_getaffinity(0)) == os.cpu_count() or True)

import os
pid = os.fork()
if pid:
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
else:
    raise ValueError("in the child")

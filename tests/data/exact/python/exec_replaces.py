import os
print("before", flush=True)
os.execvp("echo", ["echo", "replaced"])

import sys
def hook(event, args):
    if event in ("open", "compile", "cpython._PySys_ClearAuditHooks"):
        sys.__stdout__.write(f"{event}\n")
sys.addaudithook(hook)
open("main.py").close()
eval("1")

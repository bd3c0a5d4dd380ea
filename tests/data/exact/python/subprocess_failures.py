import subprocess
for args in (["/nonexistent/x"], ["false"], ["sleep", "5"]):
    try:
        subprocess.run(args, check=True, timeout=0.2)
    except Exception as e:
        print(type(e).__name__, str(e).split(" after ")[0])

import runpy
runpy.run_module("tool", run_name="__main__", alter_sys=True)
print(sorted(runpy.run_path("tool/__init__.py"))[:3])

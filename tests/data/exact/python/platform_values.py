import platform
print(platform.python_version(), platform.python_implementation(), platform.python_compiler(), platform.machine(), platform.system(), platform.architecture())

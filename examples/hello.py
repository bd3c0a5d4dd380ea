import os
import platform

print("Hello from Python", platform.python_version())
print("I am", os.environ["USER"], "in", os.getcwd(), "on", platform.node())

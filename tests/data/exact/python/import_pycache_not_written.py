import m, os
print(os.path.exists("__pycache__"), m.x)

open("main.py", "w").write("\n" * 3 + "something else entirely\n" * 4)
def f():
    1 / 0
f()

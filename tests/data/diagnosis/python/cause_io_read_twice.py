open("x.txt","w").write("3\n4\n")
with open("x.txt") as f:
    text = f.read()
    first = f.readlines()[0]

open("x.txt","w").write("3\n4\n")
with open("x.txt") as f:
    n = int(f.readlines())

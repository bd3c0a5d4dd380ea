open("x.txt","w").write("3 4\n")
data = open("x.txt").read()
for line in data.readlines(): print(line)

import os
os.makedirs("d"); open("d/x.txt","w").close()
for f in os.listdir("d"):
    print(open(f).read())

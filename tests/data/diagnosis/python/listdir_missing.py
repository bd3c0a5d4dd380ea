import os

for name in os.listdir("input"):
    print(name)

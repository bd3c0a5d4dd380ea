endings = [".png", ".jpg"]
for name in ["a.png", "b.txt"]:
    if name.endswith(endings):
        print(name)

level = 3
name = input("Name for level ", level)

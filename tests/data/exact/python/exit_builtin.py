print("a")
exit(4)

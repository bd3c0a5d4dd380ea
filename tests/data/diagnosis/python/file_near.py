with open("date.csv") as f:
    print(f.read())

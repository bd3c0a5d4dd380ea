x = 3
if x > 5:
    print("large")
else if x > 1:
    print("middle")

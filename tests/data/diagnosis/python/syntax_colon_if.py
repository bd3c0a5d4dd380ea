x = 7

if x > 5
    print("large")

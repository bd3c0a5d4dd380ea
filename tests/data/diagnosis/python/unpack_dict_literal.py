for k,v in {'a':1}:
    print(k,v)

n=10
for i in range(n/2):
    pass

squares = []
for i in range(3):
    print "squares:", i * i

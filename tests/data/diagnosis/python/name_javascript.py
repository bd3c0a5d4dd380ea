done = true
while not done:
    pass

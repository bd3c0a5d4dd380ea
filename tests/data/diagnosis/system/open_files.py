held = []
for i in range(100):
    # Never closed.
    held.append(open("/dev/null"))

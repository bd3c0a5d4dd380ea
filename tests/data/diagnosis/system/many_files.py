for i in range(1000):
    open(f"file{i}", "w").close()

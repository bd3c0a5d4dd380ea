open_jobs = ["a", "b"]
if open_jobs >= 2:
    print("many")

queue = ["a"]
more = ("b", "c")
queue = queue + more

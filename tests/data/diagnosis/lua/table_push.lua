local list = {}
list:push("a")

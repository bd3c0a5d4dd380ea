line = "a"
line.push("b")

"abc".startswith("a", "b")

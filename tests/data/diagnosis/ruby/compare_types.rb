puts [3, "a", 1].sort.inspect

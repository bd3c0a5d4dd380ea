puts [3, nil, 1].sort.inspect

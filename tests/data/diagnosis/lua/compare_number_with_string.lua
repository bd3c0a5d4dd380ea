local limit = "10"
if 5 < limit then print("less") end

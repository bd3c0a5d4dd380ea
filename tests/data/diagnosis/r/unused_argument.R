area <- function(w, h) w * h
print(area(w = 1, h = 2, depth = 3))

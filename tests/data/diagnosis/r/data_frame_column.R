d <- data.frame(a = 1:2)
print(d[, "b"])

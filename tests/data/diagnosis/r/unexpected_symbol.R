values <- c(1, 2, 3)
for (v in values { print(v) }

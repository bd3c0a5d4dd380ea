d <- data.frame(a = 1:2, b = 1:3)

values <- list(1, 2, 3)
print(values[[4]])

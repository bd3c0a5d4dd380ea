price <- "10"
count <- 2
print(price * count)

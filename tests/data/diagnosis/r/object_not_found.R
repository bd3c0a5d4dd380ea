total <- 3
print(totl)

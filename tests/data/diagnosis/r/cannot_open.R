d <- read.csv("data.csv")
print(nrow(d))

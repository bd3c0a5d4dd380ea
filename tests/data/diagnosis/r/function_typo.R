average <- function(x) sum(x) / length(x)
print(averge(c(1, 2)))

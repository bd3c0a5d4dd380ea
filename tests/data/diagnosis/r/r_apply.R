compute_mean <- function(x) {
  sum(x) / length(x)
}

groups <- list(a = 1:3, b = 4:6)
results <- lapply(groups, function(g) compute_maen(g))
print(results)

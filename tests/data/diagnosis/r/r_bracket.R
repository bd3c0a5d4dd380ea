add <- function(a, b) {
  a + b
}

results <- sapply(1:3, function(i) add(i, 1)
print(results)

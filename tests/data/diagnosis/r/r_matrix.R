a <- matrix(1:6, nrow = 2)
b <- matrix(1:6, nrow = 2)

multiply <- function(x, y) {
  x %*% y
}

print(multiply(a, b))

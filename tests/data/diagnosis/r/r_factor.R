scale_by <- function(x, factor) {
  x * factor
}

values <- c(1, 2, 3)
result <- scale_by(values)
print(result)

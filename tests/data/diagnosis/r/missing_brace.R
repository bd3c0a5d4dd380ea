twice <- function(x) {
  x * 2

print(twice(2))

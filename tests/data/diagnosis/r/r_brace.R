classify <- function(x) {
  if (x > 10) {
    "big"
  else {
    "small"
  }
}

print(classify(5))

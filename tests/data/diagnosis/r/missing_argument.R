power <- function(base, exponent) {
  base ^ exponent
}
print(power(2))

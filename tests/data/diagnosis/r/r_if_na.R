ages <- c(31, NA, 22)

count_adults <- function(a) {
  n <- 0
  for (age in a) {
    if (age >= 18) n <- n + 1
  }
  n
}

print(count_adults(ages))

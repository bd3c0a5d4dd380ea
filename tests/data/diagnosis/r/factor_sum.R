values <- c("1", "2", "3")

total <- function(v) {
  s <- 0
  for (x in v) {
    s <- s + x
  }
  s
}

print(total(values))

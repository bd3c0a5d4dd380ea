withdraw <- function(balance, amount) {
  if (amount > balance) {
    stop("insufficient funds")
  }
  balance - amount
}

process <- function(amounts) {
  b <- 100
  for (a in amounts) b <- withdraw(b, a)
  b
}

print(process(c(20, 50, 70)))

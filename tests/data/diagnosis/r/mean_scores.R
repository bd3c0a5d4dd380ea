scores <- c(90, 85, 77)

summarise_scores <- function(x) {
  m <- mean(x)
  s <- sd(x)
  list(mean = m, sd = s)
}

result <- summarise_scores(score)
print(result$mean)

df <- data.frame(name = c("a", "b"), score = c(1, 2))

top <- function(d) {
  d[order(-d$score), c("name", "points")]
}

print(top(df))

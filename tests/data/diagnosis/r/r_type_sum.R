df <- data.frame(item = c("a", "b"), price = c("3", "4"))

total <- function(d) {
  sum(d$price)
}

cat(total(df), "\n")

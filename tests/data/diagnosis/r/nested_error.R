total <- function(items) {
  sum(items$price * items$count)
}
items <- list(price = "10", count = 2)
print(total(items))

load_sales <- function(path) {
  df <- read.csv(path)
  df[df$amount > 0, ]
}

sales <- load_sales("sales.csv")
print(nrow(sales))

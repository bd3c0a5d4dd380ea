check <- function(age) {
  if (age < 0) stop("age is negative")
  age
}
check(-3)

area <- function(width, height) {
  width * height
}

shapes <- list(c(2, 3), c(4, 5))
for (s in shapes) {
  print(area(w = s[1], heigth = s[2]))
}

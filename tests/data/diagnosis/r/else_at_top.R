n <- 3
if (n > 2) {
  print("big")
}
else {
  print("small")
}

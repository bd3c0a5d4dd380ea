class Point {
  x = 1,
  y = 2
}

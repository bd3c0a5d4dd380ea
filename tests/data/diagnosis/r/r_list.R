people <- list(list(name = "Ada"), list(name = "Bob"))

get_name <- function(i) {
  people[[i]]$name
}

for (i in 1:3) {
  print(get_name(i))
}

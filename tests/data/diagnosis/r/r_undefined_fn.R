people <- data.frame(name = c("Ada", "Bob"), age = c(36, 41))

older <- function(d, limit) {
  mutate(d, old = age > limit)
}

print(older(people, 40))

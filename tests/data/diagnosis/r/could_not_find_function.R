words <- c("a", "b")
print(str_to_upper(words))

v <- c(a = 1)
print(v$a)

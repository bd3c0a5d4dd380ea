library(dplyr)
print(1)

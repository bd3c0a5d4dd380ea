score <- NA
if (score > 3) print("high")

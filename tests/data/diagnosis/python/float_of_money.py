print(float("1,234.50"))

print(tonumber("12x") + 1)

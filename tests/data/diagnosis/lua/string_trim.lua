local name = "  ann "
print(string.trim(name))

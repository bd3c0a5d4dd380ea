local rows = { "a", {}, "c" }
print(table.concat(rows, ","))

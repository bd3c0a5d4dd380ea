from report import line

print(line("total", 3))

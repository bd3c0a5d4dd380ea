import re

line = "error: disk full"
code = re.match(r"(\d+)", line).group(1)
print(code)

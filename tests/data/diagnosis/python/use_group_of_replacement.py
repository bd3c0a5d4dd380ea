import re

print(re.sub(r"(\d+)-\d+", r"\1/\2", "2024-05"))

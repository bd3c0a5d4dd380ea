import re

found = re.match(r"(?P<yr>\d+)-(\d+)", "2024-05")
print(found.group("year"))

import re

DOUBLED = re.compile(r"\b\w+ \2\b")
print(DOUBLED.findall("the the end"))

import re

text = "no numbers here"
pattern = re.compile(r"\d+")
found = re.search(pattern, text)
print(found.group())

import re
for m in re.findall(r"\d+", "12 34"):
    print(m.group())

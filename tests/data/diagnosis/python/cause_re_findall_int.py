import re
n = int(re.findall(r"\d+", "a12"))

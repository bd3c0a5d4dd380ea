from urllib.parse import parse_qs
q = parse_qs("page=3&q=a")
print(q["q"].strip())

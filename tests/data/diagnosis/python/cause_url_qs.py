from urllib.parse import parse_qs
q = parse_qs("page=3")
print(q["page"] + 1)

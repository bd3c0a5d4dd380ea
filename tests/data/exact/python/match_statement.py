def m(x):
    match x:
        case {"k": [a, *rest]}: return a, rest
        case (1 | 2) as n: return n
        case str(s) if s: return s
        case _: return "else"
print(m({"k": [1, 2, 3]}), m(2), m("s"), m(None))

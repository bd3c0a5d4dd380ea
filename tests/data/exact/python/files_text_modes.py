with open("t", "w", newline="\r\n", encoding="utf-16") as f:
    print("a\nü", file=f)
print(open("t", "rb").read())
with open("t", encoding="utf-16") as f:
    print(repr(f.read()), f.encoding, f.newlines)
with open("t", "x") as f: pass

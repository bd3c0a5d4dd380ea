open("t", "wb").write(b"\xff\xfe bad")
print(open("t", errors="replace").read(), open("t", errors="surrogateescape").read().encode("utf8", "surrogateescape"))
open("t").read()

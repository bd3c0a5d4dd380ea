import tempfile, os
print(tempfile.gettempdir())
with tempfile.TemporaryDirectory() as d, tempfile.NamedTemporaryFile("w+") as f, tempfile.TemporaryFile() as t:
    print(os.path.isdir(d), os.path.dirname(f.name), f.write("x"))
print(os.path.exists(d))
kept = tempfile.TemporaryDirectory()
print(len(os.path.basename(kept.name)))

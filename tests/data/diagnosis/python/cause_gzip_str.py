import gzip
with gzip.open("x.gz", "w") as f: f.write("abc")

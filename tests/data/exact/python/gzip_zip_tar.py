import gzip, zipfile, tarfile, io, lzma, bz2
print(gzip.decompress(gzip.compress(b"x")), lzma.decompress(lzma.compress(b"y")), bz2.decompress(bz2.compress(b"z")))
g = gzip.open("left.gz", "wt")
g.write("left open")
z = zipfile.ZipFile("left.zip", "w")
z.writestr("a", "b")

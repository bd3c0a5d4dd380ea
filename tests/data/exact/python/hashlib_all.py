import hashlib, hmac, zlib, binascii, base64
for n in ("md5", "sha1", "sha256", "sha512", "blake2b", "sha3_256"):
    print(n, hashlib.new(n, b"x").hexdigest()[:16])
print(hmac.new(b"k", b"m", "sha256").hexdigest()[:16], zlib.crc32(b"x"), base64.b85encode(b"hello"), hashlib.scrypt(b"p", salt=b"s", n=2, r=1, p=1)[:4])

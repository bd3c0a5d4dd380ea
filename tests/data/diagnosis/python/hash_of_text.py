import hashlib


def fingerprint(user):
    return hashlib.sha256(user + "salt").hexdigest()


print(fingerprint("ann"))

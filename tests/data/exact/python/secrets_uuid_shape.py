import secrets, uuid
print(len(secrets.token_hex(8)), uuid.uuid4().version, uuid.uuid1().version, uuid.uuid5(uuid.NAMESPACE_DNS, "x"))

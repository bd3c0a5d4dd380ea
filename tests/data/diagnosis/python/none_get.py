users = {
    "ada": {"name": "Ada"},
}


def shout(key):
    user = users.get(key)
    return user.upper()


print(shout("bob"))

def notify(user, message, *, urgent=False):
    prefix = "!" if urgent else "-"
    print(prefix, user, message)


def broadcast(users, message, urgent):
    for user in users:
        notify(user, message, urgent)


broadcast(["ada", "bob"], "hello", True)

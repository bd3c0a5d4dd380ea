def limited(calls):
    def decorate(func):
        def inner(*args):
            if calls > 0:
                return func(*args)
            return None
        return inner
    return decorate


@limited
def sizes(word):
    return {"letters": len(word)}


found = sizes("table")
print(found["letters"])

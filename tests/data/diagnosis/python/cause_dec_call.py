def retry(times):
    def deco(f):
        def inner(*a): return f(*a)
        return inner
    return deco
@retry
def go(): return 1
go()

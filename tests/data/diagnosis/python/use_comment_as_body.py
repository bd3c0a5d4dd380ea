def clear(cache):
    # nothing to do yet


cache = {}
clear(cache)

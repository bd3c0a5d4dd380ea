def flat(x):
    out = []
    for e in x:
        try:
            out.extend(flat(e))
        except TypeError:
            out.append(e)
    return out
flat(["ab", [1]])

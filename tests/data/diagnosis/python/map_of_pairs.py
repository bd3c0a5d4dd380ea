def area(w, h):
    return w * h


print(list(map(area, [(1, 2), (3, 4)])))

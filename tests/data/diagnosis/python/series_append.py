import pandas as pd

first = pd.Series([1, 2, 3])
second = pd.Series([4, 5])


def join(*parts):
    out = parts[0]
    for part in parts[1:]:
        out = out.append(part, ignore_index=True)
    return out


print(join(first, second).describe())

def lookup(table, key):
    try:
        return table[key]
    except KeyError:
        return "no entry for " + key


print(lookup({1: "one"}, 1))
print(lookup({1: "one"}, 2))

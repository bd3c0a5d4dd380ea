ages = {"ada": 36, "bob": 25}
for name, age in ages:
    print(name, age)

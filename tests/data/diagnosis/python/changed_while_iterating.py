ages = {"ada": 36, "bob": 17}
for name in ages:
    if ages[name] < 18:
        del ages[name]

ages = {"ann": {"years": 3}}
for age in ages:
    print(age["years"])

ages = {"ada": 36}
try:
    print(ages["bob"])
except KeyError:
    print(ages["carol"])

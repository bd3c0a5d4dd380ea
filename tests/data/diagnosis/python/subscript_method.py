ages = {"ada": 36}
print(ages.keys[0])

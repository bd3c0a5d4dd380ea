ages = {"ada": 36}
print(ages('ada'))

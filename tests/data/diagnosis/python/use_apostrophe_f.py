name = "Ana"
print(f'It's {name}')

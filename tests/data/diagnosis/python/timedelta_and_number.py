from datetime import date

age = date(2024, 5, 1) - date(2024, 4, 1)
print(age >= 30)

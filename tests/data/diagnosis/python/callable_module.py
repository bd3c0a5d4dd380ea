import datetime

now = datetime(2024, 1, 2)
print(now)

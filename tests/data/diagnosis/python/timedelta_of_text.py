from datetime import datetime, timedelta

days = "7"
print(datetime(2024, 1, 1) + timedelta(days=days))

from datetime import timedelta
print(f"{timedelta(hours=3):%H:%M}")

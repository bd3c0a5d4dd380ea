from datetime import datetime
datetime.strptime("2024-01-01 10:30", "%Y-%m-%d %H:%m")

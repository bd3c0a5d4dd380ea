from datetime import datetime
datetime.strptime("2024-01-01\n", "%Y-%m-%d")

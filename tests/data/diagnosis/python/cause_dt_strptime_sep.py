from datetime import datetime
datetime.strptime("2024/01/05", "%Y-%m-%d")

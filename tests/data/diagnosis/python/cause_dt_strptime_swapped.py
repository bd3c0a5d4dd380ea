from datetime import datetime
datetime.strptime("%Y-%m-%d", "2024-01-01")

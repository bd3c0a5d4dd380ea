from datetime import datetime
datetime.strptime("2024-01-01T10:00:00Z", "%Y-%m-%dT%H:%M:%S")

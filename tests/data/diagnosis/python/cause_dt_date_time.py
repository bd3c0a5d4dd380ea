from datetime import datetime
datetime.date(2024, 1, 1)

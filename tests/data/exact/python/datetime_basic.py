from datetime import datetime, timedelta, timezone, date
from zoneinfo import ZoneInfo
d = datetime(2024, 2, 29, 12, tzinfo=ZoneInfo("Europe/Vienna"))
print(d, d.astimezone(timezone.utc), d + timedelta(days=366), date(2024, 1, 1).isocalendar(), d.strftime("%A %d %B"), datetime.fromisoformat("2024-01-01T00:00:00+02:00"))
datetime(2023, 2, 29)

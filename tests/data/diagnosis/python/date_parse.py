from datetime import datetime

EVENTS = {"launch": "2024-03-01", "review": "15/04/2024"}


def days_until(text, today):
    when = datetime.strptime(text, "%Y-%m-%d")
    return (when - today).days


now = datetime(2024, 1, 1)
for name, text in EVENTS.items():
    print(name, days_until(text, now))

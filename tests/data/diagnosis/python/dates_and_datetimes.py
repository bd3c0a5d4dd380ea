from datetime import date, datetime


def overdue(due):
    """Whether the day is over."""
    return due < date.today()


print(overdue(datetime(2024, 5, 1, 12)))

import time, calendar, email.utils
print(time.strftime("%Y-%m-%d", time.gmtime(0)), calendar.month(2024, 2), email.utils.formatdate(0))
time.strptime("x", "%Y")

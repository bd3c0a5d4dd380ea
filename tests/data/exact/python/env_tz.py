import time, datetime
print(time.tzname, time.timezone, time.altzone, time.daylight, time.strftime("%Z %H:%M", time.localtime(0)))
print(datetime.datetime.fromtimestamp(0), datetime.datetime.fromtimestamp(0).astimezone().tzinfo)

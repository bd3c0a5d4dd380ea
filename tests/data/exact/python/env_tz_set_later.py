import os, time
os.environ["TZ"] = "Asia/Tokyo"
time.tzset()
print(time.tzname, time.ctime(0))

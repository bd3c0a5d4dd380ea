from datetime import datetime

stamp = 20240131
print(datetime.strptime(stamp, "%Y%m%d"))

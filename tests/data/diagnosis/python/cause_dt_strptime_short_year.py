from datetime import datetime
datetime.strptime("01.02.24", "%d.%m.%Y")

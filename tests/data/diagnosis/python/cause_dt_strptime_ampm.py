from datetime import datetime
datetime.strptime("10:30 PM", "%H:%M")

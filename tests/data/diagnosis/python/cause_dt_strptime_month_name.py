from datetime import datetime
datetime.strptime("3 March 2024", "%d %b %Y")

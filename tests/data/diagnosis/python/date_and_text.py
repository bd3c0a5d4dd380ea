from datetime import date

limit = "2024-05-01"
if date(2024, 6, 1) > limit:
    print("over")

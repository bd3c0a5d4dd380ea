import csv
import io

DATA = """city,temp
Oslo,4.5
Rome,N/A
Cairo,30.1
"""


def mean_temp(text):
    rows = csv.DictReader(io.StringIO(text))
    temps = [float(r["temp"]) for r in rows]
    return sum(temps) / len(temps)


print(mean_temp(DATA))

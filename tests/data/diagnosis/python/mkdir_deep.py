import os

os.mkdir("build/reports/html")

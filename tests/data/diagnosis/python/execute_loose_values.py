import sqlite3

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE town (name TEXT, size INT)")
db.execute("INSERT INTO town VALUES (?, ?)", "Ulm", 126)

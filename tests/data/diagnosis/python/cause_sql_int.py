import sqlite3
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE t (a INT)")
db.execute("INSERT INTO t VALUES (?)", (5))

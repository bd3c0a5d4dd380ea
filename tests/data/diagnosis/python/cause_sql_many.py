import sqlite3
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE t (a INT)")
db.executemany("INSERT INTO t VALUES (?)", [1,2])

import sqlite3
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE t (a INT, b INT)")
db.execute("INSERT INTO t VALUES (1, 2)")
row = db.execute("SELECT * FROM t").fetchone()
print(row["a"])

import sqlite3
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE t (a TEXT)")
name = "Ann"
db.execute(f"INSERT INTO t VALUES ({name})")

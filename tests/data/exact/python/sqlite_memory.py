import sqlite3
c = sqlite3.connect(":memory:")
c.execute("create table t (a, b)")
c.executemany("insert into t values (?, ?)", [(1, "x"), (2, None)])
print(c.execute("select * from t order by a").fetchall(), sqlite3.threadsafety)
c.execute("select * from nothing")

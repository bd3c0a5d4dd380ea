import sqlite3, os
c = sqlite3.connect("d.db")
c.execute("pragma journal_mode=wal")
c.execute("create table t (a)")
c.execute("insert into t values (1)")
c.commit()
c.execute("insert into t values (2)")
if os.fork() == 0:
    os.execlp("sh", "sh", "-c", "sleep 0.4; ls")

import sqlite3


def setup(db):
    db.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)")
    db.executemany("INSERT INTO users (name) VALUES (?)", [("ada",), ("bob",)])


def find(db, name):
    return db.execute("SELECT id FROM users WHERE username = ?", (name,)).fetchone()


with sqlite3.connect(":memory:") as db:
    setup(db)
    print(find(db, "ada"))

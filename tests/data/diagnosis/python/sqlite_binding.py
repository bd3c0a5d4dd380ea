import sqlite3

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE city (name TEXT, people INTEGER)")
db.execute("INSERT INTO city VALUES (?, ?)", ("Oslo", 700000))


def people(name):
    row = db.execute("SELECT people FROM city WHERE name = ?", (name)).fetchone()
    return row[0]


print(people("Oslo"))

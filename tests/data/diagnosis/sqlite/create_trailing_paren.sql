CREATE TABLE products (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL
    price REAL DEFAULT 0,
    stock INTEGER
);
INSERT INTO products (name, price) VALUES ('tea', 3.5);

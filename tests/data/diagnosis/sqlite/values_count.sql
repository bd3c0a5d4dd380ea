CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL);
INSERT INTO items (name, price) VALUES ('tea', 2.5);
INSERT INTO items (name, price) VALUES ('jam', 3.5, 4);
SELECT * FROM items;

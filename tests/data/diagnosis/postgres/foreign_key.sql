CREATE TABLE authors (id int PRIMARY KEY);
CREATE TABLE books (id int PRIMARY KEY, author int REFERENCES authors(id));
INSERT INTO books VALUES (1, 7);

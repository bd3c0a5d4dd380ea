PRAGMA foreign_keys = ON;
CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE books (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    author_id INTEGER NOT NULL REFERENCES authors(id)
);
INSERT INTO authors (id, name) VALUES (1, 'Le Guin');
INSERT INTO books (title, author_id) VALUES ('The Dispossessed', 1);
INSERT INTO books (title, author_id) VALUES ('Solaris', 2);
SELECT * FROM books;

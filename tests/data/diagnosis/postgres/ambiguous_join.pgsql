CREATE TABLE authors (id int, name text);
CREATE TABLE books (id int, author_id int, name text);
INSERT INTO authors VALUES (1, 'ann');
SELECT name
FROM authors
JOIN books ON books.author_id = authors.id;

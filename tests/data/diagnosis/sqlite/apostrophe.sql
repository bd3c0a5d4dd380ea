CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO people (name) VALUES ('Ann');
INSERT INTO people (name) VALUES ('Conan O'Brien');
SELECT * FROM people;

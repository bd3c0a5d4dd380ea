CREATE TABLE notes (id serial PRIMARY KEY, body text);
INSERT INTO notes (body)
VALUES ('hello')
RETURNING idd;

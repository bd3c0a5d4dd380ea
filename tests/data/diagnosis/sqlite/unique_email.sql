CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT UNIQUE);
BEGIN;
INSERT INTO users (name, email) VALUES ('ann', 'ann@example.org');
INSERT INTO users (name, email)
VALUES ('bob', 'bob@example.org'),
       ('anna', 'ann@example.org');
COMMIT;

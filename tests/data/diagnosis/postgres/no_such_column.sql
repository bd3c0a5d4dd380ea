CREATE TABLE users (id int PRIMARY KEY, name text);
INSERT INTO users VALUES (1, 'ann');
SELECT nmae FROM users;

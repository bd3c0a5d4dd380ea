CREATE TABLE users (id int, name text);
INSERT INTO users VALUES (1, 'ann');
SELECT * FROM users WHERE name = "ann";

CREATE TABLE users (id int PRIMARY KEY, email text UNIQUE);
INSERT INTO users VALUES (1, 'a@b');
INSERT INTO users VALUES (1, 'c@d');

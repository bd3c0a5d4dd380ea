CREATE TABLE users (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO users (id) VALUES (1);

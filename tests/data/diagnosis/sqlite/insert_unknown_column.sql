CREATE TABLE users (id INTEGER, name TEXT);
INSERT INTO users (id, nme) VALUES (1, 'ann');

CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);
CREATE INDEX idx_users_nmae ON users (nmae);
INSERT INTO users (name) VALUES ('ann');

CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT UNIQUE);
INSERT INTO users (name, email) VALUES
    ('ann', 'ann@example.org'),
    ('bob', 'bob@example.org')
    ('cid', 'cid@example.org');
SELECT COUNT(*) FROM users;

CREATE TABLE users (
    id serial PRIMARY KEY,
    email text NOT NULL UNIQUE,
    created timestamptz DEFAULT now()
);

INSERT INTO users (email) VALUES ('ann@example.org');
INSERT INTO users (email) VALUES ('bob@example.org');
INSERT INTO users (email) VALUES ('ann@example.org');

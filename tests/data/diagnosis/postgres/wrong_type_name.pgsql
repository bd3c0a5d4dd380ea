CREATE TABLE logs (
    id serial PRIMARY KEY,
    created DATETIME DEFAULT now(),
    message text
);

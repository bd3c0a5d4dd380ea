CREATE TABLE people (
    id serial PRIMARY KEY,
    name text,
    age integer
);
INSERT INTO people (name, age)
VALUES ('Ann', 31),
       ('Bob', 'unknown');
SELECT avg(age) FROM people;

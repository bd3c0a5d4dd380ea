CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE people (name text, feels mood);
INSERT INTO people VALUES ('ann', 'ok');
INSERT INTO people VALUES ('bob', 'angry');

CREATE TABLE raw (v text);
INSERT INTO raw VALUES ('10'), ('20'), ('n/a');
SELECT sum(v::int) FROM raw;

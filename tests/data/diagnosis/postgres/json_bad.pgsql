CREATE TABLE docs (id int, body jsonb);
INSERT INTO docs VALUES (1, '{"a": 1}');
INSERT INTO docs VALUES (2, '{a: 2}');
SELECT body->>'a' FROM docs;

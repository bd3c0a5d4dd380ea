CREATE TABLE scores (name text, points int);
INSERT INTO scores VALUES ('ann', 3), ('bob', 9);
SELECT name, points
FROM scores
LIMIT 1
ORDER BY points DESC;

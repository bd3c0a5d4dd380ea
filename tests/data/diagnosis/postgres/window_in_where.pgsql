CREATE TABLE scores (name text, points int);
INSERT INTO scores VALUES ('ann', 3), ('bob', 9);
SELECT name, points
FROM scores
WHERE rank() OVER (ORDER BY points DESC) = 1;

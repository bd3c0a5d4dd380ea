CREATE TABLE staff (id INTEGER PRIMARY KEY, dept TEXT, salary INTEGER);
INSERT INTO staff (dept, salary) VALUES ('it', 10), ('it', 12), ('hr', 9);

SELECT dept, AVG(salery) AS mean
FROM staff
GROUP BY dept
HAVING mean > 9;

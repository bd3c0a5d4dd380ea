CREATE TABLE staff (id int, dept text, name text, salary int);
INSERT INTO staff VALUES (1, 'it', 'Ann', 10), (2, 'it', 'Bob', 12);

SELECT dept,
       name,
       avg(salary)
FROM staff
GROUP BY dept;

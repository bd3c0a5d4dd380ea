CREATE TABLE sales (region TEXT, amount INTEGER);
INSERT INTO sales VALUES ('n', 5), ('n', 9), ('s', 3);

SELECT region, amount
FROM sales
WHERE ROW_NUMBER() OVER (PARTITION BY region ORDER BY amount DESC) = 1;

CREATE TABLE sales (region text, amount numeric);
INSERT INTO sales VALUES ('n', 5), ('s', 7);
WITH sums AS (
    SELECT region, sum(amount) AS total
    FROM sales
    GROUP BY region
)
SELECT region, totl
FROM sums
ORDER BY region;

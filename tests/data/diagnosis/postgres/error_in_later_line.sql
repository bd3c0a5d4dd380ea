CREATE TABLE sales (region text, amount int);

SELECT region,
       sum(amount)
FROM sales WHERE amont > 3
GROUP BY region;

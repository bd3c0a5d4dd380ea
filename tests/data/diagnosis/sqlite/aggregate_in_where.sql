CREATE TABLE sales (region TEXT, amount INTEGER);
SELECT region FROM sales WHERE sum(amount) > 10 GROUP BY region;

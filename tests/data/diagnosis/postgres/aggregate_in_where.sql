CREATE TABLE sales (region text, amount int);
SELECT region FROM sales WHERE sum(amount) > 10 GROUP BY region;

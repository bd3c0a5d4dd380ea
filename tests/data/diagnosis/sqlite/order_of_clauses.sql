CREATE TABLE orders (id INTEGER, city TEXT, amount REAL);
INSERT INTO orders VALUES (1, 'Ulm', 5), (2, 'Jena', 7);
SELECT city, SUM(amount)
FROM orders
GROUP BY city
WHERE amount > 3;

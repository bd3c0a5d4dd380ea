CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL);
INSERT INTO orders VALUES (1, 9.5);

SELECT id, total
FROM order_
WHERE total > 5;

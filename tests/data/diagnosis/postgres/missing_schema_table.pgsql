CREATE TABLE orders (id int, total numeric);
INSERT INTO orders VALUES (1, 9.5);
CREATE VIEW big_orders AS
SELECT id, total
FROM order_s
WHERE total > 5;

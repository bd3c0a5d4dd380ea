CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    city TEXT
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customers(id),
    amount REAL
);
INSERT INTO customers VALUES (1, 'Ann', 'Jena'), (2, 'Bob', 'Ulm');
INSERT INTO orders VALUES (1, 1, 20.5), (2, 1, 7), (3, 2, 12);

SELECT c.name, SUM(o.amount) AS total
FROM customer c
JOIN orders o ON o.customer_id = c.id
GROUP BY c.id;

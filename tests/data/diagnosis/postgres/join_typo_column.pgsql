CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE orders (
    id serial PRIMARY KEY,
    customer_id int REFERENCES customers (id),
    amount numeric(10, 2)
);
INSERT INTO customers (name) VALUES ('Ann'), ('Bob');
INSERT INTO orders (customer_id, amount) VALUES (1, 20.5), (2, 3);

SELECT c.name, sum(o.amount)
FROM customers c
JOIN orders o ON o.custumer_id = c.id
GROUP BY c.name;

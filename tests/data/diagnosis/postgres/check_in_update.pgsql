CREATE TABLE products (
    id int PRIMARY KEY,
    price numeric CHECK (price > 0)
);
INSERT INTO products VALUES (1, 5), (2, 3);
UPDATE products
SET price = price - 4;

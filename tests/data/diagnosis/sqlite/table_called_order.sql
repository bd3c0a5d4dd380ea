CREATE TABLE order (id INT);

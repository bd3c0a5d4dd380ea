CREATE TABLE departments (id int PRIMARY KEY, name text);
CREATE TABLE employees (
    id int PRIMARY KEY,
    dept int REFERENCES departments (id)
);
INSERT INTO departments VALUES (1, 'it'), (2, 'hr');
INSERT INTO employees VALUES (10, 1);

DELETE FROM departments WHERE name = 'it';

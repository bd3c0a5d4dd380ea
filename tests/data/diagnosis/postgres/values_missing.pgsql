CREATE TABLE pairs (a int, b int, c int);
INSERT INTO pairs (a, b, c)
VALUES (1, 2, 3),
       (4, 5);

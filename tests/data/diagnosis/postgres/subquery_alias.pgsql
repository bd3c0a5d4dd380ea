CREATE TABLE t (a int, b int);
INSERT INTO t VALUES (1, 2), (1, 3);
SELECT max(total)
FROM (SELECT a, sum(b) AS total FROM t GROUP BY a);

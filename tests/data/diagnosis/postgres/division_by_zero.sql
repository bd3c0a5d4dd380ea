CREATE TABLE t (a int, b int);
INSERT INTO t VALUES (1, 0); SELECT a / b FROM t;

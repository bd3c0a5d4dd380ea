CREATE TABLE t (a int, b text);
SELECT * FROM t WHERE a = b;

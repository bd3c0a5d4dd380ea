CREATE TABLE t (a int);
SELECT a, a FORM t;

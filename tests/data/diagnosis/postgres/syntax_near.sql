CREATE TABLE t (a int);
SELCT a FROM t;

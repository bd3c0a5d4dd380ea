CREATE TABLE t (a int);
CREATE TABLE t (a int, b int);

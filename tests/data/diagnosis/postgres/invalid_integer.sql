CREATE TABLE t (a int);
INSERT INTO t VALUES ('many');

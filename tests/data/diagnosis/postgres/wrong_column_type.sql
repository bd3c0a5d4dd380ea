CREATE TABLE t (a int, b date);
INSERT INTO t SELECT 1, true;

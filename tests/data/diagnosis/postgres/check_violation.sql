CREATE TABLE t (age int CHECK (age >= 0));
INSERT INTO t VALUES (-1);

CREATE TABLE t (a varchar(3));
INSERT INTO t VALUES ('long text');

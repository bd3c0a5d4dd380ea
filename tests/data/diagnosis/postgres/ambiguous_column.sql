CREATE TABLE a (id int, x text);
CREATE TABLE b (id int, y text);
SELECT id FROM a JOIN b ON a.id = b.id;

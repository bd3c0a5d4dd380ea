CREATE TABLE a (id int, v text);
CREATE TABLE b (ref text, w text);
INSERT INTO a VALUES (1, 'x');
INSERT INTO b VALUES ('1', 'y');
SELECT a.v, b.w
FROM a
JOIN b ON b.ref = a.id;

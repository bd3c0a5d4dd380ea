CREATE TABLE counters (id int, hits int);
INSERT INTO counters VALUES (1, 2000000000);
UPDATE counters SET hits = hits * 2 WHERE id = 1;
SELECT * FROM counters;

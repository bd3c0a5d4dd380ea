CREATE TABLE sale (town TEXT, sum INT);
SELECT town, SUM(sum) FROM sale GROUP town;

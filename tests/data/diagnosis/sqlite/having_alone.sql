CREATE TABLE sale (id INT);
SELECT id FROM sale HAVING id > 1;

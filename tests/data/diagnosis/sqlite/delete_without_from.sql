CREATE TABLE sale (id INT);
DELETE sale WHERE id = 1;

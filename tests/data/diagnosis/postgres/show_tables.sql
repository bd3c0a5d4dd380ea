CREATE TABLE towns(name text);
SHOW TABLES;

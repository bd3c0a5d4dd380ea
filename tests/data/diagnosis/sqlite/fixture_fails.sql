SELECT * FROM towns;

SELECT count(*) FROM towns;

SELECT round(3.14159::double precision, 2);

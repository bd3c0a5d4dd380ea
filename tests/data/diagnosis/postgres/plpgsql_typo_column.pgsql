CREATE TABLE stock (item text, quantity int);
INSERT INTO stock VALUES ('tea', 4);

CREATE FUNCTION take(what text, n int) RETURNS int AS $$
BEGIN
    UPDATE stock SET quantty = quantity - n WHERE item = what;
    RETURN n;
END;
$$ LANGUAGE plpgsql;

SELECT take('tea', 1);

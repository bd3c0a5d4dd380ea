CREATE TABLE stock (item text, qty int);
CREATE FUNCTION check_qty() RETURNS trigger AS $$
BEGIN
    IF NEW.qty < 0 THEN
        RAISE EXCEPTION 'negative stock for %', NEW.item;
    END IF;
    RETURN NEW;
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER t_check BEFORE INSERT OR UPDATE ON stock
    FOR EACH ROW EXECUTE FUNCTION check_qty();
INSERT INTO stock VALUES ('tea', 3);
UPDATE stock SET qty = -1 WHERE item = 'tea';

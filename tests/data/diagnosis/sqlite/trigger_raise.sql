CREATE TABLE stock (item TEXT PRIMARY KEY, qty INTEGER NOT NULL);
CREATE TRIGGER no_negative BEFORE UPDATE ON stock
WHEN NEW.qty < 0
BEGIN
    SELECT RAISE(ABORT, 'stock cannot be negative');
END;
INSERT INTO stock VALUES ('tea', 2);
UPDATE stock SET qty = qty - 5 WHERE item = 'tea';

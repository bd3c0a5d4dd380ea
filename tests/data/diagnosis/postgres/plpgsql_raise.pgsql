CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
INSERT INTO accounts VALUES (1, 100), (2, 5);

CREATE OR REPLACE FUNCTION transfer(src int, dst int, amount int) RETURNS void AS $$
DECLARE
    available int;
BEGIN
    SELECT balance INTO available FROM accounts WHERE id = src;
    IF available < amount THEN
        RAISE EXCEPTION 'insufficient funds: % has %, needs %', src, available, amount;
    END IF;
    UPDATE accounts SET balance = balance - amount WHERE id = src;
    UPDATE accounts SET balance = balance + amount WHERE id = dst;
END;
$$ LANGUAGE plpgsql;

SELECT transfer(1, 2, 50);
SELECT transfer(2, 1, 500);

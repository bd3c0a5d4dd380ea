CREATE TABLE accounts (id serial PRIMARY KEY, owner text NOT NULL);

CREATE FUNCTION open_account(who text) RETURNS int AS $$
DECLARE
    new_id int;
BEGIN
    INSERT INTO accounts (owner) VALUES (who) RETURNING id INTO new_id;
    RETURN new_id;
END;
$$ LANGUAGE plpgsql;

SELECT open_account('ann');
SELECT open_account(NULL);

CREATE TABLE runs (n int);
INSERT INTO runs VALUES (3), (0);

DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT n FROM runs LOOP
        RAISE NOTICE '%', 10 / r.n;
    END LOOP;
END;
$$;

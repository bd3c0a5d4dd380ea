CREATE FUNCTION sign_of(n int) RETURNS text AS $$
BEGIN
    IF n > 0 THEN
        RETURN 'positive';
    ELSE IF n < 0 THEN
        RETURN 'negative';
    END IF;
    RETURN 'zero';
END;
$$ LANGUAGE plpgsql;

SELECT sign_of(3);

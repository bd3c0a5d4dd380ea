CREATE FUNCTION ratio(a int, b int) RETURNS numeric AS $$
DECLARE
    result numeric;
BEGIN
    result := a / b;
    RETURN result;
END;
$$ LANGUAGE plpgsql;

SELECT ratio(4, 2);
SELECT ratio(1, 0);

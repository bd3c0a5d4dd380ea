CREATE FUNCTION full_name(first text, last text) RETURNS text AS $$
    SELECT first || ' ' || last;
$$ LANGUAGE sql;

SELECT full_name('Ann', 'Lee');
SELECT fullname('Ann', 'Lee');

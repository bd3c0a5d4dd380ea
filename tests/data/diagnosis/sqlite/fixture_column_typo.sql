SELECT name, poplation
FROM towns
WHERE country = 'DE'
ORDER BY 2 DESC;

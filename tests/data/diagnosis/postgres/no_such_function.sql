SELECT datediff('2024-01-02', '2024-01-01');

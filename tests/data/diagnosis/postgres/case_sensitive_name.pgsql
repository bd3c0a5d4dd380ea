CREATE TABLE users ("userId" int, "firstName" text);
INSERT INTO users VALUES (1, 'Ann');
SELECT firstName
FROM users
WHERE "userId" = 1;

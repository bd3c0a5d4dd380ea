CREATE TABLE events (name text, day date);
INSERT INTO events VALUES ('start', '2024-02-28');
INSERT INTO events VALUES ('leap', '2023-02-29');
SELECT * FROM events;

CREATE TABLE tags (post INTEGER, tag TEXT);
INSERT INTO tags VALUES (1, 'a'), (1, 'b'), (2, 'c');

SELECT post,
       string_agg(tag, ', ') AS tags
FROM tags
GROUP BY post;

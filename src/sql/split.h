/* sql/split.h — where a statement of PostgreSQL's SQL ends. Pure functions.
 * Knows what may hide a semicolon: quotes of every kind, dollar quotes, comments within comments, parentheses, and bodies of
 * functions between BEGIN ATOMIC and END. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct statement {
    size_t start, end;   /* of the text, without the semicolon and what is blank around it */
    size_t next;         /* where to go on */
    unsigned parameters; /* the largest $n in it */
    bool command;        /* a line that begins with a backslash: for psql, not for a server */
};

/* The statement at or after `at`. False when there is none: only blanks and comments are left. */
bool split_next(const char *text, size_t n, size_t at, struct statement *ret);
/* Where what is no blank and no comment begins; nested: a comment may hold another. */
size_t split_skip_blank(const char *text, size_t n, size_t at, bool nested);

/* guests/sql/split.h — finds the end of a PostgreSQL statement. Pure functions. It knows everything
 * that can hide a semicolon: quotes of every kind, dollar quotes, nested comments, parentheses, and
 * function bodies between BEGIN ATOMIC and END. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct statement {
    size_t start, end;   /* without the semicolon and the blanks around it */
    size_t next;         /* where to continue */
    unsigned parameters; /* the largest $n that a value is wanted for: PREPARE and routines have
                            parameters of their own */
    bool command;        /* a line with a backslash first: for psql, not for a server */
};

/* Finds the statement at or after `at`. False if only blanks and comments are left. */
bool split_next(const char *text, size_t n, size_t at, struct statement *ret);
/* The position after blanks and comments. nested: comments may contain comments. */
size_t split_skip_blank(const char *text, size_t n, size_t at, bool nested);

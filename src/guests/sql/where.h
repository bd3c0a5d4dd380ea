/* guests/sql/where.h — places in a script, and their display. Pure functions. */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct script {
    const char *name; /* of the file */
    const char *text;
    size_t n;
};

struct where {
    size_t line, column; /* from 1; a column is a character */
};
struct where where_at(const struct script *s, size_t offset);
/* The offset of the character with this number (from 0, counted from `from`). */
size_t where_character(const struct script *s, size_t from, size_t number);

/* Prints the line of the offset after `head`, and below it, after `below`, a caret. Long lines are
 * cut around it. */
void where_show(FILE *out, const struct script *s, size_t offset, const char *head,
                const char *below);

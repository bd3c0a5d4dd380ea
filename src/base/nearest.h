/* base/nearest.h — "did you mean": picks the candidate that a misspelt word probably stands for.
 * Runs in: every process. Pure functions. One rule for commands, options, fields, settings,
 * languages and names in SQL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct nearest {
    const char *wanted; /* the misspelt word */
    size_t distance;    /* of `name` */
    char name[128];     /* the best candidate so far; empty: no candidate is near */
};

/* A word that is too long to be a slip is never near to anything. */
enum { NEAREST_WORD_MAX = 48 };

/* Edits from the word to the candidate; SIZE_MAX when they are different words. Case is free, two
 * swapped neighbours are one edit, and the beginning of a longer name comes after every slip. */
size_t nearest_distance(const char *wanted, const char *candidate);
/* Keeps the candidate if it is nearer than the ones before it. */
void nearest_offer(struct nearest *n, const char *candidate);

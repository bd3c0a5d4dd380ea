/* base/strv.h — NULL-terminated lists of strings, each string and the list on the heap.
 * Runs in: every process. NULL is the empty list everywhere. */
#pragma once

#include <stddef.h>

#include "base/err.h"

size_t strv_len(char *const *strv);
/* A copy of the list and its strings, never NULL but for want of memory. */
char **strv_copy(char *const *strv);
/* Appends a copy of the word. The list is unchanged on failure. */
[[nodiscard]] int strv_add(char ***strv, const char *word, struct err *e);
void strv_free(char **strv);
/* Overwrites every string before it is freed; *strv is NULL afterwards. */
void strv_wipe(char ***strv);

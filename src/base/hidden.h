/* base/hidden.h — characters that a person does not see in a text, or that change the order in which
 * it is shown. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A short reason, or NULL for a character that is seen. */
const char *hidden_why(uint32_t c);

/* The character at text[*at], and *at behind it. A byte that starts none counts as U+FFFD. */
uint32_t hidden_next(const char *text, size_t n, size_t *at);

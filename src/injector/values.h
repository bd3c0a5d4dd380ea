/* injector/values.h — the values of secrets. Runs in: injector; nobody else has them in memory.
 *
 * VALUES-1 They are in memory that is neither dumped nor swapped (as far as the limits allow), and
 *          values_done() wipes it. The injector of a run keeps the values of that run alone. */
#pragma once

#include "base/err.h"
#include "network/inject.h"

enum { VALUES_MAX = 256, VALUE_SIZE = 4096 };
struct value {
    char name[NETWORK_SECRET_MAX + 1];
    char text[VALUE_SIZE];
};
struct values {
    struct value *v; /* NULL: none */
    size_t n;
};
void values_done(struct values *v);
[[nodiscard]] int values_init(struct values *v, struct err *e);
/* Adds the lines "NAME=VALUE" of a file. Empty lines and lines with # are skipped; a name that is
 * there already keeps its value. */
[[nodiscard]] int values_read(struct values *v, int fd, struct err *e);
/* NULL: there is none. */
const char *values_find(const struct values *v, const char *name);

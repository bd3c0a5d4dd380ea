/* bench/bench_program.h — a program to run: the same bytes for every contender, and the required
 * output. */
#pragma once

#include <stddef.h>

#include "runtime/language.h"

struct bench_program {
    const char *name;
    const struct language *language; /* how it is started */
    const char *file;                /* name of its main file inside, or NULL */
    const void *code;
    size_t code_len;
    const char *says; /* the required output */
};

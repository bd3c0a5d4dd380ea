/* bench/program.h — what is run: the same bytes by every contender, and what it must print. */
#pragma once

#include <stddef.h>

#include "runtime/language.h"

struct program {
    const char *name;
    const struct language *language; /* how it is started */
    const char *file;                /* the name of its main file inside, or NULL */
    const void *code;
    size_t code_len;
    const char *says; /* what it must print */
};

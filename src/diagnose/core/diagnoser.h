/* diagnose/core/diagnoser.h — the compiled patterns. Runs in: keeper. Private to this room. */
#pragma once

#include "diagnose/core/diagnose.h"

struct diagnoser {
    struct pattern {
        const char *text; /* NULL: the slot is free */
        struct pcre2_real_code_8 *code;
    } * patterns;
    size_t n_patterns;
    size_t room; /* slots; a power of two, and never all in use */
    struct pcre2_real_match_context_8 *context;
    struct pcre2_real_match_data_8 *data;
    const char *broken; /* a pattern that did not compile, or for which there was no memory */
};

/* diagnose/core/diagnoser.h — the patterns that were compiled. Runs in: keeper. Private to this room. */
#pragma once

#include "diagnose/core/diagnose.h"

struct diagnoser {
    struct pattern {
        const char *text; /* NULL: nobody's place */
        struct pcre2_real_code_8 *code;
    } * patterns;
    size_t n_patterns, room; /* a power of two, and never full */
    struct pcre2_real_match_context_8 *context;
    struct pcre2_real_match_data_8 *data;
    const char *broken; /* a pattern that did not compile, or had no place */
};

/* diagnose/diagnoser.h — the patterns that were compiled. Runs in: keeper. Private to this room. */
#pragma once

#include "diagnose/diagnose.h"

enum { PATTERNS_MAX = 2039 };

struct diagnoser {
    struct pattern {
        const char *text;
        struct pcre2_real_code_8 *code;
    } patterns[PATTERNS_MAX];
    struct pcre2_real_match_context_8 *context;
    struct pcre2_real_match_data_8 *data;
    const char *broken; /* a pattern that did not compile */
};

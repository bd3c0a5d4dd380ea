/* cli/run/end_note.h — the sentence for people about how a run ended. Runs in: the keeper of `belljar run`, and main when a
 * service ran it. */
#pragma once

#include <stdbool.h>

#include "spec/verdict.h"

struct end_note {
    enum verdict verdict;
    enum verdict compiler; /* of compile_error: how the compiler itself ended */
    limit_set hits;
    struct limits limits; /* the compiler's, of compile_error */
    const char *error;    /* why, when belljar failed or the run was not allowed */
    const char *install;  /* what gets the language that is missing; NULL: that is not why */
    bool unheard;         /* cancelled because nobody reads what it prints */
};

/* On stderr when a limit, a cancellation or a failure ended the run; nothing otherwise. */
void end_note_print(const struct end_note *n);

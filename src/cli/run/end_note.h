/* cli/run/end_note.h — the sentence on stderr about the end of a run. Runs in: the keepers of
 * `belljar run`. */
#pragma once

#include <stdbool.h>

#include "spec/verdict.h"

struct end_note {
    enum verdict verdict;
    enum verdict compiler; /* of compile_error: the verdict of the compiler itself */
    limit_set hits;
    struct limits limits; /* of compile_error: those of the compiler */
    const char *error;    /* the reason, if belljar failed or the run was not allowed */
    const char *install; /* the command that installs the missing language; NULL: none is missing */
    const char *stage;   /* the name of the stage that failed; NULL: none, or no stages */
    bool stage_in_file;  /* its limits are in the file of --stages */
    bool unheard;        /* cancelled because its output has no reader */
};

/* Prints if a limit, a cancellation or a failure ended the run. */
void end_note_print(const struct end_note *n);

/* fixes/outcome.h — the outcome of a try: the error of the changed program beside that of the
 * program as it was. Runs in: keeper. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "spec/verdict.h"

#define FIX_OUTCOME_TABLE(X) /* id, word, sentence */                                        \
    X(FIX_CURES,     "cures",     "cures the error: the program ends well")                  \
    X(FIX_MOVES,     "moves",     "moves the error")                                         \
    X(FIX_NO_CHANGE, "no_change", "does not change the error")                               \
    X(FIX_LIMIT,     "limit",     "makes the program reach a limit")                         \
    X(FIX_UNSTEADY,  "unsteady",  "ends well, and so does the program without the change")   \
    X(FIX_NOT_TRIED, "not_tried", "was not tried")

enum fix_outcome {
#define X(id, word, sentence) id,
    FIX_OUTCOME_TABLE(X)
#undef X
        FIX_OUTCOME_COUNT_
};
const char *fix_outcome_word(enum fix_outcome o);
const char *fix_outcome_sentence(enum fix_outcome o);

/* The error of a run; texts are borrowed and may be NULL. */
struct run_error {
    enum verdict verdict;
    const char *type, *message, *file;
    uint32_t line; /* 0: not known */
};

/* A line at or behind `changed` moved down by `added` lines. */
enum fix_outcome fix_outcome(const struct run_error *before, const struct run_error *after,
                             uint32_t changed, uint32_t added);

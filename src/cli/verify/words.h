/* cli/verify/words.h — the words after the language of a Markdown fence. Runs in: main. Pure
 * functions.
 *
 *     ```python skip="needs a network" timeout=30s
 *
 * Words are separated by blanks or commas and may stand in braces. Words of other tools are
 * ignored; a word that looks like a misspelt word of ours is a mistake. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "spec/limit.h"

enum word_id {
    WORD_SKIP,
    WORD_EXPECT_ERROR,
    WORD_EXIT,
    WORD_SESSION,
    WORD_CONTINUE,
    WORD_COUNT,
};

struct words {
    bool given[WORD_COUNT];
    char *value[WORD_COUNT];   /* NULL: none */
    int exit_status;           /* of WORD_EXIT */
    char *limits[LIMIT_COUNT]; /* as they are written; NULL: not given */
};
void words_done(struct words *w);

/* Reads the words after the language. */
[[nodiscard]] int words_read(const char *text, size_t len, struct words *ret, struct err *e);

/* For help and documents: "skip[=REASON]" and its meaning; NULL past the last one. */
const char *word_term(size_t i);
const char *word_help(size_t i);

/* api/runs/expected.h — whether a program printed what was expected. Runs in: keeper; pure functions over bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define COMPARE_TABLE(X)        \
    X(COMPARE_TRIM,   "trim")   /* lines, without the white space at their ends; blank lines at the end do not count */ \
    X(COMPARE_EXACT,  "exact")  /* byte for byte */ \
    X(COMPARE_TOKENS, "tokens") /* words, whatever is between them */
enum compare_mode {
#define X(id, word) id,
    COMPARE_TABLE(X)
#undef X
        COMPARE_COUNT_
};
extern const char *const compare_words[]; /* in the same order; NULL-terminated */
/* COMPARE_TRIM for NULL and for what is none of the words. */
enum compare_mode compare_parse(const char *word);

/* Steps through an output by what counts in a mode: lines or words. */
struct output_cursor {
    enum compare_mode mode;
    const char *at, *end;
    size_t line;       /* of the piece that was given last; 1, 2, ... */
    size_t lines_seen; /* the cursor's own */
};
struct output_piece {
    const char *bytes; /* of the output; NULL: it had ended */
    size_t len;
};
void output_cursor_init(struct output_cursor *c, enum compare_mode mode, const char *bytes,
                        size_t n);
/* False at the end. */
bool output_next(struct output_cursor *c, struct output_piece *ret);

struct difference {
    size_t line; /* in what was expected, or in what was printed beyond it */
    struct output_piece expected, got;
};
/* True when nothing that counts differs; else *ret is the first difference. */
bool output_same(enum compare_mode mode, struct output_piece expected, struct output_piece got,
                 struct difference *ret);

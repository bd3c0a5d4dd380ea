/* api/runs/expected.h — compares the output of a program with the expected output. Runs in: keeper;
 * pure functions over bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* trim: lines without white space at their ends; blank lines at the end do not count. exact: bytes.
 * tokens: words; white space between them does not count. */
#define COMPARE_TABLE(X)       \
    X(COMPARE_TRIM,   "trim")  \
    X(COMPARE_EXACT,  "exact") \
    X(COMPARE_TOKENS, "tokens")
enum compare_mode {
#define X(id, word) id,
    COMPARE_TABLE(X)
#undef X
        COMPARE_COUNT_
};
extern const char *const compare_words[]; /* in the same order; NULL-terminated */
/* COMPARE_TRIM for NULL and for an unknown word. */
enum compare_mode compare_parse(const char *word);

/* Steps through the lines or words of an output, by the mode. */
struct output_cursor {
    enum compare_mode mode;
    const char *at, *end;
    size_t line;       /* of the last piece; 1, 2, ... */
    size_t lines_seen; /* private */
};
struct output_piece {
    const char *bytes; /* inside the output; NULL: past its end */
    size_t len;
};
void output_cursor_init(struct output_cursor *c, enum compare_mode mode, const char *bytes,
                        size_t n);
/* False at the end. */
bool output_next(struct output_cursor *c, struct output_piece *ret);

struct difference {
    size_t line; /* of the expected output; past its end, of the real output */
    struct output_piece expected, got;
};
/* True if the outputs are the same in this mode. Otherwise *ret is the first difference. */
bool output_same(enum compare_mode mode, struct output_piece expected, struct output_piece got,
                 struct difference *ret);

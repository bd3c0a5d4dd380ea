/* normalise/normalise.h — what somebody handed over as code, as a program and its language. Runs in: keeper, main.
 * Pure functions.
 *
 * The language is told, in this order, by the caller, the Markdown fence, the first line ("#!"), the file's name, and what the
 * lines look like; the last only where the file's name does not say that it is something else. What remains unclear is no
 * language: never a guess between two. */
#pragma once

#include "normalise/payload.h"
#include "runtime/language.h"

/* How the language was told. */
#define TOLD_TABLE(X)           \
    X(TOLD_NOT, "not")          \
    X(TOLD_GIVEN, "given")      \
    X(TOLD_FENCE, "fence")      \
    X(TOLD_SHEBANG, "shebang")  \
    X(TOLD_NAME, "file_name")   \
    X(TOLD_CONTENT, "content")

enum told {
#define X(id, word) id,
    TOLD_TABLE(X)
#undef X
        TOLD_COUNT_
};
const char *told_word(enum told t);

struct normalise_request {
    const char *text;
    size_t len;
    const struct language *given; /* NULL: to be told */
    const char *file_name;        /* NULL: it came without one */
};

struct normalised {
    struct buf code;
    const struct language *language; /* NULL: not told, or the fence names one that there is not */
    enum told told;
    char fence[FENCE_LANGUAGE_SIZE];               /* what the fence named, "" for none */
    const struct language *likely[CANDIDATES_MAX]; /* what the lines look like, likeliest first */
    size_t n_likely;
    unsigned blocks, taken; /* fenced blocks of the document, and those that are the code */
    bool unwrapped;         /* the code is a part of the text */
    bool renamed;           /* the file's name is none for the program: README.md, answer.txt */
};
void normalised_done(struct normalised *n);

/* Text without a file name may be wrapped, as models do: in a dict literal, if no language is given; in Markdown fences; as a
 * session with an interpreter. A file is what it is, unless it is Markdown. Which blocks: normalise/document.h. */
[[nodiscard]] int normalise(const struct normalise_request *q, struct normalised *ret,
                            struct err *e);

/* ", which could be lua or python", for the error when the language was not told; "" when it looks like none. */
const char *normalise_likely(const struct normalised *n, char *out, size_t size);

/* README.md */
bool normalise_is_markdown(const char *file_name);

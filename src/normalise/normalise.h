/* normalise/normalise.h — turns a text that was submitted as code into a program and its language.
 * Runs in: keeper, main. Pure functions.
 *
 * The language comes from, in this order: the caller, the Markdown fence, the first line ("#!"),
 * the file name, the look of the lines. The look counts only if the file name does not indicate
 * something else. If the result is not clear there is no language: the function never guesses
 * between two. */
#pragma once

#include "normalise/payload.h"
#include "runtime/language.h"

/* Where the language comes from. */
#define LANGUAGE_SOURCE_TABLE(X)           \
    X(SOURCE_NONE, "not")          \
    X(SOURCE_GIVEN, "given")      \
    X(SOURCE_FENCE, "fence")      \
    X(SOURCE_SHEBANG, "shebang")  \
    X(SOURCE_NAME, "file_name")   \
    X(SOURCE_CONTENT, "content")

enum language_source {
#define X(id, word) id,
    LANGUAGE_SOURCE_TABLE(X)
#undef X
        SOURCE_COUNT_
};
const char *language_source_word(enum language_source t);

struct normalise_request {
    const char *text;
    size_t len;
    const struct language *given; /* NULL: to be found */
    const char *file_name;        /* NULL: none */
};

struct normalised {
    struct buf code;
    const struct language *language; /* NULL: unclear, or the fence names an unknown one */
    enum language_source source;
    char fence[FENCE_LANGUAGE_SIZE]; /* the word after the fence, "" for none */
    /* languages that the lines look like, the most likely first */
    const struct language *likely[CANDIDATES_MAX];
    size_t n_likely;
    unsigned blocks, used; /* fenced blocks of the document, and the number of them in the code */
    bool unwrapped;        /* the code is a part of the text */
    bool renamed;          /* the file name does not fit the program: README.md, answer.txt */
};
void normalised_done(struct normalised *n);

/* Text without a file name may be wrapped, as language models do it: in a dict literal (if no
 * language is given), in Markdown fences, or as a session with an interpreter. A file is used as it
 * is, unless it is Markdown. normalise/document.h says which blocks are used. */
[[nodiscard]] int normalise(const struct normalise_request *q, struct normalised *ret,
                            struct err *e);

/* ", which could be lua or python", for the error if the language is unclear; "" if it looks like
 * none. */
const char *normalise_likely(const struct normalised *n, char *out, size_t size);

/* True for README.md and the like. */
bool normalise_is_markdown(const char *file_name);

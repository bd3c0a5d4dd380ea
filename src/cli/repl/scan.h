/* cli/repl/scan.h — reads the code that is typed, to colour it and to see whether it goes on. Runs
 * in: main. Pure functions. It knows strings, comments, numbers, keywords and brackets of a
 * language, and no more: the language itself has the last word. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct syntax {
    const char *language;
    const char *comment;     /* begins a comment to the end of the line */
    bool block_comments;     /* has comments as in C */
    const char *quotes;      /* characters that begin and end a string */
    const char *long_quotes; /* those whose strings may have several lines */
    bool triple;             /* has strings in three quotes */
    const char *const *keywords;
    const char *const *opening, *const
                                    *closing; /* words that belong together, as `do` and `done` */
    bool indents;                             /* a line that ends with ':' begins a block */
    bool ends_with_semicolon;                 /* a statement goes on to its ';' */
    const char *operators;                    /* characters after which an expression goes on */
};

/* A plain one for a language that has none. */
const struct syntax *syntax_of(const char *language);

enum token_kind { TOKEN_PLAIN, TOKEN_KEYWORD, TOKEN_STRING, TOKEN_COMMENT, TOKEN_NUMBER };

struct scanner {
    const struct syntax *syntax;
    const char *text;
    size_t len, at;
    int depth;        /* open brackets and words */
    bool open_string; /* the last token is a string or comment without its end */
    bool in_command;  /* of a shell: words here are arguments, not `do` or `done` */
    /* of a shell: the word that ends the here-document of this line; NULL: there is none */
    const char *here;
    size_t here_len;
};
struct token {
    enum token_kind kind;
    size_t from, to;
};
/* False at the end of the text. */
bool scan_next(struct scanner *s, struct token *ret);

/* True if the line is a command of the repl (":help") or a question ("name?", "?name"). */
bool scan_is_command(const char *text, size_t len);
bool scan_is_question(const struct syntax *s, const char *text, size_t len);
/* True if Enter adds a line: the code cannot be complete yet. */
bool scan_goes_on(const struct syntax *s, const char *text, size_t len);
/* True if the text ends in a string or comment that is not closed. */
bool scan_in_string(const struct syntax *s, const char *text, size_t len);
/* The number of blanks that a line after this text begins with. */
size_t scan_indent(const struct syntax *s, const char *text, size_t len);

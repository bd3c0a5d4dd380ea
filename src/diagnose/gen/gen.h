/* diagnose/gen/gen.h — turns the data files of this room into C tables. Runs on the build machine.
 *
 * GEN-1 A data file that a check refuses leaves no output: the build stops with one line, FILE:LINE
 *       and a sentence that names the value and the accepted ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { ENTRY_MAX = 16 << 10, LINE_MAX_BYTES = 1000, LETS_MAX = 16, NAME_MAX_BYTES = 63 };

/* ---- reading (reader.c) ---- */

struct reader {
    const char *path; /* as the compiler shall name it */
    FILE *in;
    unsigned read; /* lines so far */
    char *ahead;   /* the line that is read and not used; NULL at the end */
    size_t ahead_room;
    struct let {
        char name[NAME_MAX_BYTES + 1], *text;
    } lets[LETS_MAX];
    size_t n_lets;
    /* The entry: a line and the indented lines that continue it, joined by a space, with {NAME}
     * replaced by the text of its `let`. */
    unsigned line;
    bool apart; /* a blank line stands before it */
    char text[ENTRY_MAX];
};

void reader_open(struct reader *r, const char *path);
/* False at the end. `let` lines are not entries. */
bool reader_next(struct reader *r);
void reader_close(struct reader *r);
[[gnu::noreturn, gnu::format(printf, 2, 3)]] void refuse(const struct reader *r, const char *fmt,
                                                         ...);

/* The first word of the entry is cut off; *ret_rest is the text behind it. */
char *first_word(struct reader *r, char **ret_rest);
/* The head of a table, "NAME" or "NAME shared". *ret_shared: the table is seen by other files. */
void read_name(const struct reader *r, char *text, const char **ret_name, bool *ret_shared);
bool is_identifier(const char *text);
/* A copy that lives until the end of the program. */
char *kept(const char *text);

/* ---- writing ---- */

void put_literal(FILE *out, const char *text);
/* The compiler names this place when it refuses the lines that follow. */
void put_place(FILE *out, const struct reader *r, unsigned line);
/* The C name of a category; refuses another word. */
const char *category_id(const struct reader *r, const char *word);

void write_rules(struct reader *r, FILE *out); /* rules_gen.c */
void write_words(struct reader *r, FILE *out); /* words_gen.c */

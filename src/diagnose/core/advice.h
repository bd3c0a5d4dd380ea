/* diagnose/core/advice.h — tables of what is said to which message, and questions to the job's sources that several languages ask.
 * Runs in: keeper. Private to this room. */
#pragma once

#include "diagnose/core/grammar.h"

/* How far from a place something is looked for line by line: each line is counted from the begin of its file. */
enum { LINES_NEAR = 64, BLANKS_NEAR = 8 };

struct advising {
    struct diagnoser *g;
    const struct diagnose_input *in;
    struct diagnosis *d;
    const struct advice *row;
};

/* One kind of error. The first row of a table that fits decides its category and what is advised. */
struct advice {
    const char *
        pattern; /* found in "TYPE: MESSAGE", or in the message of an error without a type; NULL ends the table */
    enum category category;
    unsigned rule;
    double confidence;
    /* {1} to {9}: what the pattern's brackets took. NULL: nothing is to be said. */
    const char *text, *replacement;
    const char *docs; /* may be NULL */
    /* Says it in its own way; what it does not say, `text` does. May be NULL. */
    void (*tell)(const struct advising *a, const struct match *m);
    const char *const *names; /* for tell: what else there is to choose from */
};

/* Rows of tables: what only has a category; what is said, then `.docs = ...` and the like; who says it. */
#define IS(pattern_, category_) { .pattern = (pattern_), .category = (category_) }
#define SAY(pattern_, category_, rule_, confidence_, ...)                \
    {                                                                    \
        .pattern = (pattern_), .category = (category_), .rule = (rule_), \
        .confidence = (confidence_), .text = __VA_ARGS__                 \
    }
#define TELL(pattern_, category_, rule_, ...)                                                \
    {                                                                                        \
        .pattern = (pattern_), .category = (category_), .rule = (rule_), .tell = __VA_ARGS__ \
    }
#define END_OF_ADVICE   \
    {                   \
        .pattern = NULL \
    }

/* The category of d's message by the table. False, and nothing is changed, when no row fits. */
bool classify(struct diagnoser *g, struct diagnosis *d, const struct advice *table);
/* Adds what the row that fits says. */
void advise_by(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
               const struct advice *table);

/* What a row of any table says: {1} to {9} are what the match's brackets took. */
void say(struct diagnosis *d, unsigned rule, double confidence, const char *form,
         const struct match *m);

/* For rows: the name in the first brackets is not known. A name like it in the sources, or in row->names. */
void tell_nearest(const struct advising *a, const struct match *m);
/* For rows: a statement has no end. The line at the location with ';'. */
void tell_semicolon(const struct advising *a, const struct match *m);
/* For rows: a statement stands where only declarations may. Which brace closed too early. */
void tell_outside(const struct advising *a, const struct match *m);
/* For rows: a brace has no partner. Where it was opened. */
void tell_brace(const struct advising *a, const struct match *m);
/* The place is a line of Markdown's, left from where the code was copied from: says so. False: it is none. */
bool tell_fence(const struct diagnose_input *in, struct diagnosis *d);

/* Languages report a missing ';' where the next statement begins. Has the location be the end of the line it is missing at, when
 * that is another. */
void go_back_to_statement(const struct diagnose_input *in, struct diagnosis *d);
/* The same where a declaration that ends with '}' lacks it: struct x { ... } */
void go_back_to_brace(const struct diagnose_input *in, struct diagnosis *d);

/* Whether the program ended itself, with a status that says that it failed; then it may have said why, in its last line. */
bool failed_by_itself(const struct diagnose_input *in);
/* The last line that is not empty; at NULL: there is none. */
struct piece last_words(const struct diagnose_input *in);
/* "exit N" is the type, and that the message. */
void set_exit(const struct diagnose_input *in, struct diagnosis *d, struct piece message);

/* The first line of the text that has the pattern. */
bool match_text(struct diagnoser *g, const char *pattern, struct piece text, struct match *ret);
/* The same, and *rest is what follows that line. */
bool match_next(struct diagnoser *g, const char *pattern, struct piece *rest, struct match *ret);
struct piece text_of(const struct diagnose_input *in);
struct piece text_of_source(const struct source_file *f);

/* Whether the word stands in the line by itself; where, from its begin, in *ret_at. */
bool has_word(struct piece line, struct piece word, size_t *ret_at);
/* The first line from `from` on that has the word; 0: none. */
uint32_t line_with_word(const struct source_file *f, struct piece word, uint32_t from);
/* The line of the bracket that is never closed; where several are open, the indentation of what follows tells which. 0: none. */
uint32_t unclosed(const struct source_file *f, char open, char close);
/* The line before `before` in which a quote is opened and not closed, by counting: an odd number of lines have an odd number
 * of them. 0: none. */
uint32_t open_quote_before(const struct source_file *f, char quote, uint32_t before);
/* The nearest name of a file of the job's. */
bool nearest_file(const struct diagnose_input *in, struct piece name, char *out, size_t size);
/* The part of a path after its last '/'. */
struct piece base_of(struct piece path);
/* From the end of the line at the location, without spaces: its column. */
void point_at_end(const struct diagnose_input *in, struct diagnosis *d);
/* Has the location end with the word it begins at. */
void underline_word(const struct diagnose_input *in, struct diagnosis *d);

/* diagnose/core/grammar.h — what grammars are made of. Runs in: keeper. Private to this room.
 *
 * A grammar goes through the text line by line (next_line) and asks match() about each: so a pattern sees a line, never the
 * whole text, and the whole stays linear (D1). Lines are cut at LINE_SEEN bytes. */
#pragma once

#include "diagnose/core/diagnose.h"

/* A piece of text; not terminated. */
struct piece {
    const char *at;
    size_t len;
};
#define PIECE(literal) ((struct piece){ literal, sizeof(literal) - 1 })
#define NO_PIECE       ((struct piece){ 0 })

enum {
    MATCH_GROUPS = 10,
    LINE_SEEN = 2048,     /* of a line, and of any text given to match() */
    LINES_SEEN = 1 << 14, /* of a text whose every line is asked about several times */
};
struct match {
    struct piece all,
        group[MATCH_GROUPS]; /* group[0] is the first pair of brackets; at NULL: took no part */
};

/* Whether the PCRE2 pattern, a literal (it is compiled once and known by its address), is found in the text. Bytes, not
 * characters; '$' is the end of the text alone. */
bool match(struct diagnoser *g, const char *pattern, struct piece text, struct match *ret);
/* A pattern that did not compile, for tests; NULL: all did. */
const char *match_broken(const struct diagnoser *g);

/* Lines of a text, one after the other, without their ends. False at the end. */
bool next_line(struct piece *rest, struct piece *ret_line);
/* The same from the end; for errors that stand last. */
bool last_line(struct piece *rest, struct piece *ret_line);
struct piece piece_of(const char *text); /* the whole of a terminated text; NULL gives NO_PIECE */
struct piece piece_trim(struct piece p); /* without spaces and tabs around it */
bool starts_with(struct piece p, const char *prefix);
bool piece_is(struct piece p, const char *text);
bool piece_same(struct piece a, struct piece b);
/* Where `word` begins in p; p.len when it is not in there. */
size_t piece_find(struct piece p, const char *word);
bool piece_has(struct piece p, const char *word);
/* Whether it is one of the words, NULL-terminated. */
bool piece_among(struct piece p, const char *const *words);
/* The last part of a path. */
struct piece piece_base(struct piece path);
/* Copies, cut to fit between characters, and terminated. */
void copy_piece(struct piece p, char *out, size_t size);
#define COPY(piece, array) copy_piece((piece), (array), sizeof(array))
uint32_t piece_number(struct piece p); /* 0 when it is none */
/* Spaces and tabs that it begins with. */
size_t indent_of(struct piece line);

/* The job's file by that name, also as "/sandbox/NAME", "./NAME" or "file:///sandbox/NAME"; NULL: not the job's. */
const struct source_file *find_source(const struct diagnose_input *in, struct piece name);
/* Fills in file (as users know it), line and column. True when the file is the job's. */
bool set_place(const struct diagnose_input *in, struct place_in_code *p, struct piece file,
               struct piece line, struct piece column);
/* The line of a source file, 1-based; at NULL: it has no such line. f may be NULL. */
struct piece source_line(const struct source_file *f, uint32_t line);
/* The line at d->location. */
struct piece line_at(const struct diagnose_input *in, const struct diagnosis *d);
/* Has the location point at the word in its line, when it has no column yet. */
void point_at(const struct diagnose_input *in, struct diagnosis *d, struct piece word);
/* Has a location that has a column only end with the word that begins there. */
void point_over_word(const struct diagnose_input *in, struct diagnosis *d);
/* The line an error shows itself, for a job whose source is not there. Ignored when there is an excerpt. */
void show_line(struct diagnosis *d, uint32_t line, struct piece text);
/* Adds a frame, the innermost first; those of the job's files go before the others, each kind in the order it was added. */
void add_frame(const struct diagnose_input *in, struct diagnosis *d, struct piece file,
               struct piece line, struct piece column, struct piece function);
/* The place of the innermost frame in the job's files, where there is no other yet. */
void locate_by_frames(struct diagnosis *d);
struct cause *add_cause(struct diagnosis *d); /* NULL when there are enough */

/* Another error of the same output. One that is there already is not added, one too many is counted. */
void add_further(struct diagnosis *d, const struct further_error *e);
/* The next error of a compiler's output: what is left of the output is in *rest, *ret is zero before. False: none is left. */
typedef bool next_error_fn(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                           struct further_error *ret);
/* Adds all of the text but the first, which is the diagnosis itself. */
void read_further(struct diagnoser *g, const struct diagnose_input *in, next_error_fn *next,
                  struct diagnosis *d);
/* Adds what follows to a message, as far as it has room. */
void append_message(struct further_error *e, const char *between, struct piece more);

/* A suggestion; of the same confidence the first added stays first, and one for each rule is enough (0: not counted).
 * rule: see README.md. */
[[gnu::format(printf, 4, 5)]] void suggest(struct diagnosis *d, unsigned rule, double confidence,
                                           const char *fmt, ...);
/* What the last one added would have one write. */
[[gnu::format(printf, 2, 3)]] void suggest_replacement(struct diagnosis *d, const char *fmt, ...);
/* The same: the line at `location` with the first `from` (a whole word where it is one) written as `to`. False: it is not
 * in there. */
bool suggest_swap(const struct diagnose_input *in, struct diagnosis *d, struct piece from,
                  const char *to);

/* The candidate that is most like a name and is not it. Zero but for the name. */
struct nearest {
    struct piece name;
    char best[128]; /* "": none is near */
    size_t distance;
    unsigned asked;
};
void nearest_try(struct nearest *n, struct piece candidate);
/* Identifiers in the job's sources; text in quotes is left out. */
void nearest_try_sources(struct nearest *n, const struct diagnose_input *in);
/* Texts in quotes there: keys, names of files. */
void nearest_try_literals(struct nearest *n, const struct diagnose_input *in);
/* Words inside of texts there, and in files of another kind than the program: headers of tables, keys of configurations. */
void nearest_try_texts(struct nearest *n, const struct diagnose_input *in);
/* NULL-terminated, may be NULL. */
void nearest_try_list(struct nearest *n, const char *const *words);
/* The identifier in the job's sources, or in `also` (NULL-terminated, may be NULL), that is most like `name` and is not it.
 * False when none is near. */
bool nearest_name_in(const struct diagnose_input *in, struct piece name, const char *const *also,
                     char *out, size_t size);

/* One way that errors look. */
struct grammar {
    const char *name;
    /* Fills in type, message, category, location, frames, causes as far as the text says. False: none of its errors is in
     * the text, and nothing was filled in. */
    bool (*read)(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);
    /* Adds suggestions and docs to what was read. May be NULL. */
    void (*advise)(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);
};
/* Rows of grammars[] in grammars.c. */
extern const struct grammar grammar_python, grammar_node, grammar_typescript, grammar_shell,
    grammar_ruby, grammar_go, grammar_rust, grammar_gcc, grammar_java, grammar_php, grammar_perl,
    grammar_lua, grammar_r, grammar_sqlite, grammar_postgres;
/* By name; NULL when there is none. */
const struct grammar *grammar_find(const char *name);
/* The first whose errors are in the text, for text that came without a language. */
const struct grammar *grammar_infer(struct diagnoser *g, const struct diagnose_input *in);

/* The language of what it read, for text that came without one. */
const char *grammar_language(const struct grammar *grammar, const struct diagnosis *d);

/* system.c: what limits, signals and exit codes say, and what our own policy caused. `read`: a grammar found an error. */
void system_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                 bool read);
void system_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);

/* sandbox.c: what our own policy caused; a part of system_advise(). */
void sandbox_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);

/* clean.c: the text without the escape sequences of terminals; `passed_on`: and without what others put before its lines (times,
 * names of containers). *ret_copy, to be freed, is set when the result is not the text itself. */
struct piece cleaned(struct diagnoser *g, struct piece text, bool passed_on, char **ret_copy);

/* excerpt.c: the lines at the location. */
void make_excerpt(const struct diagnose_input *in, struct diagnosis *d);

/* diagnose/core/grammar.h — the toolkit of the grammars. Runs in: keeper. Private to this room.
 *
 * A grammar reads the text line by line (next_line) and asks match() about each line. A pattern
 * therefore sees one line and never the whole text, and the work stays linear (DIAGNOSE-1).
 *
 * GRAMMAR-1 The text is the guest's, and so is each number in it: no index into a piece goes
 *           unchecked. The bytes of a piece have no type that C can index; piece_byte(), piece_at(),
 *           piece_part() and the like check the index. Only piece.c and calls that take a length
 *           beside the pointer use piece_bytes(); scripts/check-pieces lists the files.
 * GRAMMAR-2 "%.*s" gets its arguments from P(): a length that is computed by hand can become
 *           negative, and printf() then reads on to the next NUL. */
#pragma once

#include "diagnose/core/diagnose.h"

/* ---- pieces of text (piece.c) ---- */

/* A piece of text; not terminated. */
struct guest_text; /* no file defines it: `p.at[i]`, `p.at + i` and `*p.at` do not compile */
struct piece {
    const struct guest_text *at;
    size_t len;
};
#define PIECE(literal) piece_in((literal), sizeof(literal) - 1)
#define NO_PIECE       ((struct piece){ 0 })
/* The arguments of "%.*s". */
#define P(piece)       (int)(piece).len, (const char *)(piece).at

static inline struct piece piece_in(const char *text, size_t len)
{
    return (struct piece){ (const struct guest_text *)text, len };
}
static inline const char *piece_bytes(struct piece p)
{
    return (const char *)p.at;
}
/* The byte at an offset, which counts from 0, and the last byte; '\0' outside of the piece. */
static inline char piece_byte(struct piece p, size_t offset)
{
    return offset < p.len ? piece_bytes(p)[offset] : '\0';
}
static inline char piece_last(struct piece p)
{
    return piece_byte(p, p.len - 1);
}

/* Lines of a text, one after the other, without their ends. False at the end. */
bool next_line(struct piece *rest, struct piece *ret_line);
/* The same from the last line to the first. */
bool last_line(struct piece *rest, struct piece *ret_line);
/* The text from the begin of one piece to the end of another, which follows it in the same text. */
struct piece piece_through(struct piece first, struct piece last);
struct piece piece_of(const char *text); /* the whole of a terminated text; NULL gives NO_PIECE */
struct piece piece_trim(struct piece p); /* without spaces and tabs around it */
struct piece piece_trim_end(struct piece p);           /* without spaces, tabs and CRs at its end */
struct piece piece_cut(struct piece p, size_t max);    /* at most `max` bytes of it */
struct piece piece_skip(struct piece p, size_t bytes); /* without its first bytes */
struct piece piece_part(struct piece p, size_t offset, size_t bytes); /* as far as p has them */
/* The rest of `whole` behind `part`, which is a part of it. */
struct piece piece_after(struct piece whole, struct piece part);
/* The offsets in `whole` at which `part` begins and ends. */
size_t piece_offset(struct piece whole, struct piece part);
size_t piece_end(struct piece whole, struct piece part);
/* The byte in a column, which counts from 1; '\0' outside of the line. */
char piece_at(struct piece line, size_t column);
/* The part of a line before a column, and the part from that column on. A column outside of the
 * line is its end. */
struct piece piece_before(struct piece line, size_t column);
struct piece piece_from(struct piece line, size_t column);
bool starts_with(struct piece p, const char *prefix);
bool ends_with(struct piece p, const char *suffix);
bool piece_is(struct piece p, const char *text);
bool piece_same(struct piece a, struct piece b);
/* The offset of `word` in p; p.len when p does not hold it. */
size_t piece_find(struct piece p, const char *word);
bool piece_has(struct piece p, const char *word);
/* The offset behind the last such byte; 0 when there is none. */
size_t piece_behind_last(struct piece p, char c);
/* Whether it is one of the words; the list ends with NULL. */
bool piece_among(struct piece p, const char *const *words);
/* A row of a table of words: `pairs` in a *.words file. The table ends with a NULL word. */
struct word_pair {
    const char *word, *text;
};
/* The text of the word; NULL when the table does not have it. */
const char *text_for(const struct word_pair *pairs, struct piece word);
/* The same for the first word that the text has in it. */
const struct word_pair *pair_in(const struct word_pair *pairs, struct piece text);
/* The word whose text, names with a space between them, has the name; NULL when none has it. */
const char *word_with(const struct word_pair *pairs, struct piece name);
/* The last part of a path, and the last part of a dotted name. */
struct piece piece_base(struct piece path);
struct piece piece_last_part(struct piece dotted);
/* How many characters, not bytes, it has. */
uint32_t piece_characters(struct piece p);
/* Copies and terminates it; a text that does not fit is cut between two characters. */
void copy_piece(struct piece p, char *out, size_t size);
#define COPY(piece, array) copy_piece((piece), (array), sizeof(array))
uint32_t piece_number(struct piece p); /* 0 when it is not a number */
size_t indent_of(struct piece line);   /* the spaces and tabs that it begins with */
/* A letter, a digit, '_', or a part of a character outside of ASCII. */
bool is_word_byte(char c);
/* The offset of the word where it stands by itself, not as a part of a longer one; line.len when
 * the line does not have it. */
size_t find_word(struct piece line, struct piece word);
bool has_word(struct piece line, struct piece word);

/* ---- patterns (match.c) ---- */

enum {
    MATCH_GROUPS = 10,
    LINE_SEEN = 2048,     /* bytes of a line, and of any text that match() reads */
    LINES_SEEN = 1 << 14, /* lines of a text whose every line meets several patterns */
    LINES_NEAR = 64,      /* lines around a place that are searched; each is counted from line 1 */
    BLANKS_NEAR = 8,      /* blank lines that are skipped on the way to the next line of code */
    NAMES_ASKED = 16,     /* names of a line for each of which the whole file is searched */
};
struct match {
    struct piece all;
    /* group[0] is the first pair of brackets; its `at` is NULL when it took no part. */
    struct piece group[MATCH_GROUPS];
};

/* Whether the PCRE2 pattern is found in the text. The pattern is a literal: it is compiled once and
 * known by its address. It sees bytes, not characters; '$' is the end of the text alone. */
bool match(struct diagnoser *g, const char *pattern, struct piece text, struct match *ret);
/* The first line of the text that has the pattern. */
bool match_text(struct diagnoser *g, const char *pattern, struct piece text, struct match *ret);
/* The same; *rest becomes the text behind that line. */
bool match_next(struct diagnoser *g, const char *pattern, struct piece *rest, struct match *ret);
/* A pattern that did not compile, for tests; NULL when all did. */
const char *match_broken(const struct diagnoser *g);

/* ---- places and frames (places.c) ---- */

/* The job's file of that name, also as "/sandbox/NAME", "./NAME" or "file:///sandbox/NAME". NULL
 * when the file is not the job's. */
const struct source_file *find_source(const struct diagnose_input *in, struct piece name);
/* Fills in file (as users know it), line and column. True when the file is the job's. */
bool set_place(const struct diagnose_input *in, struct place_in_code *p, struct piece file,
               struct piece line, struct piece column);
/* The location becomes a line of a file, without a column. */
void set_location(struct diagnosis *d, const char *file, uint32_t line);
/* The line of a source file, which counts from 1; NO_PIECE when the file does not have it. f may be
 * NULL. */
struct piece source_line(const struct source_file *f, uint32_t line);
/* The line at d->location. */
struct piece line_at(const struct diagnose_input *in, const struct diagnosis *d);
/* Makes the location point at the word in its line, unless it has a column already. */
void point_at(const struct diagnose_input *in, struct diagnosis *d, struct piece word);
/* A location that has only its first column ends with the word that begins there. */
void point_over_word(const struct diagnose_input *in, struct diagnosis *d);
/* The location becomes the end of its line, without the spaces there. */
void point_at_end(const struct diagnose_input *in, struct diagnosis *d);
/* The line that an error shows itself, for a job whose source is not known. Ignored when there is
 * an excerpt. */
void show_line(struct diagnosis *d, uint32_t line, struct piece text);
/* Adds a frame, the innermost first. Frames of the job's files go before the others. */
void add_frame(const struct diagnose_input *in, struct diagnosis *d, struct piece file,
               struct piece line, struct piece column, struct piece function);
/* The location becomes the innermost frame in the job's files, unless there is a location. */
void locate_by_frames(struct diagnosis *d);
struct cause *add_cause(struct diagnosis *d); /* NULL when there are enough */
/* The error that was read becomes the first cause, because another reason ended the program. */
void keep_as_cause(struct diagnosis *d);

/* ---- further errors (further.c) ---- */

/* Another error of the same output. An error that is there already is not added; when there is no
 * more room, it is counted. */
void add_further(struct diagnosis *d, const struct further_error *e);
/* Finds the next error of a compiler's output and moves *rest behind it; *ret is zero before. False
 * when no error is left. */
typedef bool next_error_fn(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                           struct further_error *ret);
/* Adds every error of the text but the first, which is the diagnosis itself. */
void read_further(struct diagnoser *g, const struct diagnose_input *in, next_error_fn *next,
                  struct diagnosis *d);
/* Adds to a message as much as fits. */
void append_text(char *out, size_t size, const char *between, struct piece more);
#define APPEND(array, between, more) append_text((array), sizeof(array), (between), (more))

/* ---- values of variables (values.c) ---- */

/* The variable of that name ("row", "self.rows") at the line of the error. NULL: the program told
 * none. It is the program's own word: nothing but the words of advice may depend on it. */
const struct value *value_of(const struct diagnosis *d, struct piece name);
/* Whether the value is known and has that type. v may be NULL. */
bool value_is(const struct value *v, const char *type);
/* Its preview; NO_PIECE when there is none. v may be NULL. */
struct piece value_shown(const struct value *v);
/* The items of a preview, "[1, 'a']" or "{'k': 1}", one after the other. Zero but for `rest`, which
 * is the preview. */
struct shown_items {
    struct piece rest;
    bool begun;
    struct piece key, item; /* key: of a dict; otherwise NO_PIECE */
};
/* False at the end, where the preview is cut, and for a preview without items. */
bool next_shown(struct shown_items *s);
/* The text without its quotes. False for other values, and for a text with a backslash. */
bool shown_text(struct piece shown, struct piece *ret);

/* ---- suggestions (suggest.c) ---- */

/* Adds a suggestion. Suggestions are sorted by confidence; of two with the same, the first added
 * stays first. One suggestion for each number of README.md is enough; 0 is not counted. */
[[gnu::format(printf, 4, 5)]] void suggest(struct diagnosis *d, unsigned number, double confidence,
                                           const char *fmt, ...);
/* A line that is as it was corrects nothing: such replacements are removed. */
void suggestions_drop_idle(struct diagnosis *d, struct piece line);
/* Removes each replacement that its language could not read, or that makes no sense (check.c). */
void suggestions_check(const struct diagnose_input *in, struct diagnosis *d);
/* The line to write, for the suggestion that was added last. */
[[gnu::format(printf, 2, 3)]] void suggest_replacement(struct diagnosis *d, const char *fmt, ...);
/* The same: the line at `location` with the first `from` (as a whole word, if it is a word)
 * replaced by `to`. False when the line does not hold it. */
bool suggest_swap(const struct diagnose_input *in, struct diagnosis *d, struct piece from,
                  const char *to);

/* The most similar name among the candidates that are offered; base/nearest.h decides which name is
 * near. Zero but for `name`. */
struct similar {
    struct piece name;
    char best[128]; /* "" when no candidate is near */
    size_t distance;
    unsigned tried;
};
void similar_try(struct similar *s, struct piece candidate);
/* Identifiers in the job's sources, without the texts in quotes. */
void similar_try_sources(struct similar *s, const struct diagnose_input *in);
/* Texts in quotes there: keys, names of files. */
void similar_try_literals(struct similar *s, const struct diagnose_input *in);
/* Words inside of texts there, and in files of another kind than the program: headers of tables,
 * keys of configurations. */
void similar_try_texts(struct similar *s, const struct diagnose_input *in);
/* The names of the job's files, without their directories. */
void similar_try_files(struct similar *s, const struct diagnose_input *in);
/* The list ends with NULL and may be NULL. */
void similar_try_list(struct similar *s, const char *const *words);
/* The identifier in the job's sources, or in the list `also`, that is most similar to `name` and
 * differs from it. False when none is near. */
bool similar_name(const struct diagnose_input *in, struct piece name, const char *const *also,
                  char *out, size_t size);
/* The most similar name of a file of the job's. */
bool similar_file(const struct diagnose_input *in, struct piece name, char *out, size_t size);

/* ---- questions about the output and the sources (sources.c) ---- */

struct piece text_of(const struct diagnose_input *in);
/* The text of a file, as far as it is searched, and all of it; f may be NULL. */
struct piece text_of_source(const struct source_file *f);
struct piece whole_source(const struct source_file *f);
/* The output on stdout. */
struct piece text_printed(const struct diagnose_input *in);

/* The lines of the job's sources, one file after the other. Zero but for `in`, or for `file`, which
 * then is the only file. */
struct source_lines {
    const struct diagnose_input *in;
    const struct source_file *file;
    struct piece line;
    uint32_t number;
    struct piece rest;
    bool begun;
    size_t next_file;
};
bool next_source_line(struct source_lines *s);

/* Whether the program ended itself with a status that means failure. Its last line may then say
 * why. */
bool failed_by_itself(const struct diagnose_input *in);
/* The last line that is not blank; NO_PIECE when there is none. */
struct piece last_words(const struct diagnose_input *in);

/* The first line from `from` on that has the word; 0 when none has it. */
uint32_t line_with_word(const struct source_file *f, struct piece word, uint32_t from);
/* The line of the bracket that is never closed. Where several are open, the indentation of the
 * lines below decides. 0 when all are closed. */
uint32_t unclosed(const struct source_file *f, char open, char close);
/* The line before `before` in which a quote is opened and not closed: an odd number of lines have
 * an odd number of quotes. 0 when there is none. */
uint32_t open_quote_before(const struct source_file *f, char quote, uint32_t before);

/* Where a line stands among the braces of its file. */
struct outside {
    bool any;        /* it is in no brace, */
    bool extra;      /* and the file has more closing braces than opening ones; */
    uint32_t closed; /* the last line before it whose brace closed the outermost one. 0: none */
};
struct outside outside_at(const struct source_file *f, uint32_t line);

/* Parsers report a missing ';' where the next statement begins. Moves the location to the end of
 * the line that lacks it, when that is another line. */
void go_back_to_statement(const struct diagnose_input *in, struct diagnosis *d);
/* The same where a declaration that ends with '}' lacks its ';': struct x { ... } */
void go_back_to_brace(const struct diagnose_input *in, struct diagnosis *d);

/* ---- grammars (grammars.c) ---- */

/* One form of errors. */
struct grammar {
    const char *name;
    /* The languages whose errors have this form, the most common first; none when only the language
     * of the grammar's name has it. No other place maps a language to its grammar. */
    const char *languages[4];
    /* Fills in type, message, category, location, frames and causes as far as the text has them.
     * False when the text holds no error of this form; then nothing was filled in. */
    bool (*read)(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);
    /* Adds suggestions and docs to an error that was read. May be NULL. */
    void (*advise)(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);
};
/* GRAMMAR_TABLE in grammars.c lists them. By name; NULL when there is no such grammar. */
const struct grammar *grammar_find(const char *name);
/* The first grammar that reads the text, for text that came without a language. */
const struct grammar *grammar_infer(struct diagnoser *g, const struct diagnose_input *in);
/* The language of an error that it read, for text that came without a language. */
const char *grammar_language(const struct grammar *grammar, const struct diagnosis *d);

/* ---- the other steps of diagnose() ---- */

/* system.c: limits, signals and exit codes, and effects of Belljar's own policy. `read`: a grammar
 * found an error. */
void system_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                 bool read);
void system_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);
/* sandbox.c: effects of Belljar's own policy; a part of system_advise(). */
void sandbox_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);

/* stopped.c: the place at which a program was before a deadline ended it. Fills in location and frames;
 * false when the place is not known. */
bool stopped_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);
void stopped_advise(const struct diagnose_input *in, struct diagnosis *d);

/* endless.c: a function of the sources that calls itself on every path. False when there is none. */
bool endless_recursion(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);

/* values.c: the values of variables that the program told, at lines that the diagnosis names. They
 * are read before advice is given. */
void values_read(const struct diagnose_input *in, struct diagnosis *d);

/* clean.c: the text without the escape sequences of terminals. `passed_on`: also without the
 * prefixes that other programs put before its lines (times, names of containers). *ret_copy, which
 * the caller frees, is set when the result is not the text itself. */
struct piece cleaned(struct diagnoser *g, struct piece text, bool passed_on, char **ret_copy);

/* excerpt.c: the lines at the location. */
void make_excerpt(const struct diagnose_input *in, struct diagnosis *d);

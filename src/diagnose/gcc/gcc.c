/* Reads the errors of C and C++: of gcc, g++, ld, the C library, the sanitizers and the kernel.
 * Runs in: keeper. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/gcc/gcc.h"

/* ---- compilers ---- */

/* Errors of an SQL script begin the same way and are excluded. */
#define PLACE "^(?![^:]*\\.(?:sql|csv):)([^\\s:][^:]*):(\\d+):(?:(\\d+):)? "

/* The columns that the line below an error underlines. */
static void read_underline(struct diagnoser *g, struct piece after, struct diagnosis *d)
{
    struct piece shown, under;
    struct match m;
    if (!next_line(&after, &shown) || !next_line(&after, &under) || d->location.column == 0)
        return;
    if (!match(g, "^ *(\\d+) \\|(?: (.*))?$", shown, &m))
        return;
    if (piece_number(m.group[0]) == d->location.line && m.group[1].at)
        show_line(d, d->location.line, m.group[1]);
    if (match(g, "^ *\\| [ ~-]*(\\^~*)", under, &m))
        d->location.end_column = d->location.column + (uint32_t)m.group[0].len;
}

/* "In file included from main.c:1:", "main.cpp:6:14:   required from here": the job's line that led
 * the compiler to a line of a library. */
static void read_way(struct diagnoser *g, const struct diagnose_input *in, struct piece line,
                     struct place_in_code *way)
{
    struct match m;
    struct place_in_code p = { 0 };
    struct piece column = NO_PIECE;
    if (match(g, "^(?:In file included|  +) *from ([^:]+):(\\d+)[,:]", line, &m)) {
        if (way->line == 0 && set_place(in, &p, m.group[0], m.group[1], column))
            *way = p;
        return;
    }
    if (match(g, "^([^\\s:][^:]*):(\\d+):(?:(\\d+):)?   required from", line, &m)) {
        column = m.group[2];
        if (set_place(in, &p, m.group[0], m.group[1], column))
            *way = p;
    }
}

#define ERROR PLACE "(?:fatal )?error: (.*?)(?: \\[(-W[^\\]]+)\\])?$"

/* The next error line, and in *way the job's line that led the compiler to a library's line. */
static bool find_error(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                       struct place_in_code *way, struct match *m)
{
    struct piece line;
    *way = (struct place_in_code){ 0 };
    while (next_line(rest, &line)) {
        read_way(g, in, line, way);
        if (match(g, PLACE "(?:warning|note): ", line, m))
            *way = (struct place_in_code){ 0 };
        else if (piece_has(line, "error: ") && match(g, ERROR, line, m))
            return true;
    }
    return false;
}

static bool next_error(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                       struct further_error *ret)
{
    struct place_in_code way;
    struct match m;
    while (find_error(g, in, rest, &way, &m)) {
        COPY(m.group[3], ret->message);
        COPY(m.group[4], ret->type);
        if (set_place(in, &ret->at, m.group[0], m.group[1], m.group[2]))
            return true;
        /* One mistake makes many errors deep in a library. One of them is enough, at the job's line
         * that led there. */
        if (way.line == 0)
            continue;
        ret->at = way;
        ret->by_place = true;
        return true;
    }
    return false;
}

static bool read_compiler(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in);
    struct place_in_code way;
    struct match m;
    if (!find_error(g, in, &rest, &way, &m))
        return false;
    COPY(m.group[3], d->message);
    COPY(m.group[4], d->type);
    bool users = set_place(in, &d->location, m.group[0], m.group[1], m.group[2]);
    add_frame(in, d, m.group[0], m.group[1], m.group[2], NO_PIECE);
    if (!users && way.line != 0)
        d->location = way;
    else
        read_underline(g, rest, d);
    read_further(g, in, next_error, d);
    return true;
}

/* "gcc: error: unrecognized command-line option", "cc1: fatal error: ...": no place in any file. */
static bool read_driver(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct match m;
    if (!match_text(g, "^(?:gcc|g\\+\\+|cc|c\\+\\+|cc1|cc1plus|as): (?:fatal )?error: (.*)",
                    text_of(in), &m))
        return false;
    COPY(m.group[0], d->message);
    d->category = CATEGORY_COMPILE;
    return true;
}

/* ---- the linker ---- */

#define LINKED    "(undefined reference to|multiple definition of) " GCC_OPEN "(.+?)" GCC_CLOSE
#define LINKED_AT "([^\\s:]+\\.(?:c|cc|cpp|cxx|h|hpp)):(\\d+): (?:undefined|multiple)"

struct piece gcc_plain_name(struct piece symbol)
{
    symbol = piece_cut(symbol, piece_find(symbol, "("));
    for (size_t at; (at = piece_find(symbol, "::")) < symbol.len;)
        symbol = piece_skip(symbol, at + 2);
    return symbol;
}

/* Whether the text before a name makes it a declaration: a type, as in "int next(" or "char
 * *next(". */
static bool is_declared_after(struct piece before)
{
    while (before.len > 0 && strchr(" \t*&", piece_last(before)))
        before.len--;
    static const char *const words[] = { "return", "else", "case", "throw", "do", NULL };
    size_t from = before.len;
    for (char c; from > 0; from--) {
        c = piece_byte(before, from - 1);
        if ((c != '_' && (c | 32) < 'a') || (c | 32) > 'z')
            break;
    }
    struct piece word = piece_skip(before, from);
    return (word.len > 0 && !piece_among(word, words)) ||
           (before.len > 0 && piece_last(before) == '>');
}

static void place_at(const struct diagnose_input *in, struct diagnosis *d,
                     const struct source_lines *s, struct piece name)
{
    set_location(d, s->file->name, s->number);
    point_at(in, d, name);
}

void gcc_find_use(const struct diagnose_input *in, struct diagnosis *d, struct piece name)
{
    struct source_lines s = { .in = in };
    while (next_source_line(&s)) {
        size_t at = find_word(s.line, name);
        if (at == s.line.len || is_declared_after(piece_cut(s.line, at)))
            continue;
        place_at(in, d, &s, name);
        return;
    }
}

/* No line uses a symbol that the compiler uses by itself: a destructor ("Shape::~Shape()") or a
 * table ("vtable for Shape"). The location is then the line of the class that declares it. */
static void find_declared(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
                          struct piece symbol)
{
    struct match m;
    bool table = match(g, " for (?:\\w+::)*(\\w+)$", symbol, &m);
    if (!table && !match(g, "(~\\w+)\\(", symbol, &m))
        return;
    struct piece name = m.group[0];
    struct source_lines s = { .in = in };
    while (next_source_line(&s))
        if (has_word(s.line, name) && (!table || match(g, "\\b(?:class|struct)\\s", s.line, &m))) {
            place_at(in, d, &s, name);
            return;
        }
}

/* A name that is used in ten places is one error. */
static bool next_undefined(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                           struct further_error *ret)
{
    struct piece line;
    struct match m, at;
    while (next_line(rest, &line)) {
        if (!match(g, LINKED, line, &m))
            continue;
        COPY(m.group[0], ret->message);
        APPEND(ret->message, " '", m.group[1]);
        APPEND(ret->message, "", PIECE("'"));
        COPY(starts_with(m.group[0], "undefined") ? PIECE(LD_UNDEFINED) : PIECE(LD_MULTIPLE),
             ret->type);
        ret->anywhere = true;
        if (match(g, LINKED_AT, line, &at))
            (void)set_place(in, &ret->at, at.group[0], at.group[1], NO_PIECE);
        return true;
    }
    return false;
}

static bool read_linker(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct match m;
    if (match_text(g, LINKED, text_of(in), &m)) {
        struct piece what = m.group[0], symbol = m.group[1];
        (void)snprintf(d->message, sizeof d->message, "%.*s '%.*s'", P(what), P(symbol));
        bool undefined = starts_with(what, "undefined");
        COPY(undefined ? PIECE(LD_UNDEFINED) : PIECE(LD_MULTIPLE), d->type);
        /* With -g the linker knows the line. */
        if (piece_has(symbol, "~") || piece_has(symbol, " for "))
            find_declared(g, in, d, symbol);
        else if (match_text(g, LINKED_AT, text_of(in), &m))
            (void)set_place(in, &d->location, m.group[0], m.group[1], NO_PIECE);
        else
            gcc_find_use(in, d, gcc_plain_name(symbol));
        read_further(g, in, next_undefined, d);
    } else if (match_text(g, "ld: (cannot find -l\\S+?)(?:: .*)?$", text_of(in), &m) ||
               match_text(g, "(?:^|/)(?:ld|collect2)(?:\\.\\w+)?: (?:fatal )?(?:error: )?(.+)",
                          text_of(in), &m)) {
        COPY(m.group[0], d->message);
        COPY(PIECE("ld"), d->type);
    } else {
        return false;
    }
    d->category = CATEGORY_COMPILE;
    return true;
}

/* ---- sanitizers ---- */

/* "#1 0x5581 in main /sandbox/main.c:5:3", also without the address or the column. The frames of
 * the error come first; frames of the allocation are in later groups. */
static void read_stack(struct diagnoser *g, const struct diagnose_input *in, struct piece rest,
                       struct diagnosis *d)
{
    struct piece line;
    struct match m;
    bool any = false;
    while (next_line(&rest, &line)) {
        bool frame = match(g, "^\\s+#\\d+ ", line, &m);
        if (any && !frame)
            return;
        any |= frame;
        if (piece_has(line, "libsanitizer"))
            continue; /* a frame of the sanitizer itself */
        if (frame &&
            match(g,
                  "^\\s+#\\d+ (?:0x[0-9a-f]+ in )?(\\S.*?) ([^\\s:]+):(\\d+)(?::(\\d+))?(?: .*)?$",
                  line, &m))
            add_frame(in, d, m.group[1], m.group[2], m.group[3], m.group[0]);
    }
}

static bool read_sanitizer(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (match(g, PLACE "runtime error: (.*)$", line, &m)) {
            (void)set_place(in, &d->location, m.group[0], m.group[1], m.group[2]);
            COPY(m.group[3], d->message);
            COPY(PIECE("UndefinedBehaviorSanitizer"), d->type);
            return true;
        }
        if (!match(g,
                   "(?:ERROR|WARNING): (\\w+Sanitizer): (?:attempting )?(detected memory "
                   "leaks|data race|[\\w-]+)(.*)",
                   line, &m))
            continue;
        COPY(m.group[1], d->type);
        (void)snprintf(d->message, sizeof d->message, "%.*s: %.*s%.*s", P(m.group[0]),
                       P(m.group[1]), P(m.group[2]));
        struct piece access;
        struct piece after = rest;
        if (next_line(&after, &access) && match(g, "^(?:READ|WRITE) of size \\d+", access, &m)) {
            size_t used = strlen(d->message);
            (void)snprintf(d->message + used, sizeof d->message - used, "; %.*s", P(m.all));
        }
        read_stack(g, in, rest, d);
        locate_by_frames(d);
        return true;
    }
    return false;
}

/* ---- programs ---- */

static bool read_assertion(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d)
{
    struct match m;
    if (!match_text(g, "^(?:[^:]+: )?([^\\s:]+):(\\d+): (.*): (Assertion [`'].*' failed)\\.?$",
                    text_of(in), &m))
        return false;
    add_frame(in, d, m.group[0], m.group[1], NO_PIECE, m.group[2]);
    locate_by_frames(d); /* not in a header of the library's */
    COPY(m.group[3], d->message);
    COPY(PIECE("SIGABRT"), d->type);
    d->category = CATEGORY_ASSERTION;
    return true;
}

static bool read_terminate(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d)
{
    struct match m;
    if (match_text(g, "^terminate called after throwing an instance of '(.+)'", text_of(in), &m)) {
        COPY(m.group[0], d->type);
        COPY(match_text(g, "^  what\\(\\):  (.*)", text_of(in), &m) /* words: quoted */
                 ? m.group[0]
                 : PIECE("it was thrown and not caught"),
             d->message);
        return true;
    }
    if (!match_text(g,
                    "^(terminate called (?:without an active "
                    "exception|recursively)|(?:free|malloc|realloc|calloc|munmap_chunk)\\(\\): "
                    ".*|double free or corruption.*|corrupted .*|\\*\\*\\* .* detected \\*\\*\\*: "
                    "terminated|pure virtual method called)",
                    text_of(in), &m))
        return false;
    COPY(m.group[0], d->message);
    COPY(PIECE("SIGABRT"), d->type);
    return true;
}

static const struct {
    int number;
    const char *name, *message;
    const char *shell; /* a shell's words for it */
} ends[] = {
    { SIGSEGV, "SIGSEGV",
      "the program read or wrote memory that is not its own (segmentation fault)",
      "Segmentation fault" },
    { SIGFPE, "SIGFPE", "an integer was divided by zero, or the result does not fit",
      "Floating point exception" },
    { SIGABRT, "SIGABRT", "the program ended itself with abort()", "Aborted" },
    { SIGBUS, "SIGBUS", "the program used memory that is not there (bus error)", "Bus error" },
    { SIGILL, "SIGILL", "the program came to an instruction that does not exist",
      "Illegal instruction" },
    { SIGTRAP, "SIGTRAP", "the program came to a breakpoint", "Trace/breakpoint trap" },
};

static bool read_signal(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    (void)g;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        bool ended = in->evidence ? in->evidence->signal == ends[i].number
                                  : piece_has(text_of(in), ends[i].shell);
        if (!ended)
            continue;
        COPY(piece_of(ends[i].name), d->type);
        COPY(piece_of(ends[i].message), d->message);
        return true;
    }
    return false;
}

/* "numbers.txt: No such file or directory": perror() before exit(1). */
static bool read_perror(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    return failed_by_itself(in) && read_exit(g, in, d, last_words(in), false, gcc_run_rules);
}

static bool read_gcc(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    bool (*const run[])(struct diagnoser *, const struct diagnose_input *,
                        struct diagnosis *) = { read_sanitizer, read_assertion, read_terminate };
    for (size_t i = 0; !in->compiling && i < ARRAY_LEN(run); i++)
        if (run[i](g, in, d)) {
            if (d->category == CATEGORY_RUNTIME)
                (void)classify(g, d, gcc_run_rules);
            return true;
        }
    if ((in->compiling || !in->evidence) && read_compiler(g, in, d)) {
        if (!classify(g, d, gcc_compile_rules))
            d->category = starts_with(piece_of(d->type), "-W")
                              ? CATEGORY_COMPILE /* a warning */
                              : CATEGORY_TYPE;   /* neither syntax nor names */
        if (d->category == CATEGORY_SYNTAX && piece_has(piece_of(d->message), "expected") &&
            piece_has(piece_of(d->message), ";"))
            go_back_to_statement(in, d);
        if (d->category == CATEGORY_SYNTAX && piece_has(piece_of(d->message), "identifier or") &&
            piece_has(piece_of(d->message), ";"))
            go_back_to_brace(in, d);
        return true;
    }
    if ((in->compiling || !in->evidence) && (read_linker(g, in, d) || read_driver(g, in, d)))
        return true;
    if (!in->compiling && read_perror(g, in, d))
        return true;
    if (in->compiling || !read_signal(g, in, d))
        return false;
    (void)classify(g, d, gcc_run_rules);
    return true;
}

static void advise_gcc(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    bool run = !in->compiling && d->verdict != VERDICT_COMPILE_ERROR;
    if (d->category == CATEGORY_SYNTAX && advise_fence(in, d))
        return;
    if (run)
        advise_by(g, in, d, gcc_run_rules);
    if (d->n_suggestions == 0)
        advise_by(g, in, d, gcc_compile_rules);
    if (!d->docs[0] && starts_with(piece_of(d->type), "-W"))
        (void)snprintf(d->docs, sizeof d->docs, "%s",
                       "https://gcc.gnu.org/onlinedocs/gcc/Warning-Options.html");
}

const struct grammar grammar_gcc = {
    .name = "gcc", .languages = { "c", "cpp" }, .read = read_gcc, .advise = advise_gcc
};

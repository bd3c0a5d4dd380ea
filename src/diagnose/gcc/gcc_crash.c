/* Rules for C and C++: the cause, by the source, of a crash that no sanitizer saw. Runs in: keeper. */
#include "diagnose/gcc/gcc.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

enum { DECLARATIONS = 96, STACK_BYTES = 6 << 20, FILE_BYTES = 64 << 10 };

/* `char *name = "x";`, `int values[5];`, a parameter `char *text`. */
struct declaration {
    struct piece type, stars, name, array, value;
    uint32_t line;
    bool parameter;
};

/* The program as the rules see it: the declarations of its first file with such lines. */
struct crash {
    const struct advice *a;
    const struct source_file *file;
    struct declaration all[DECLARATIONS];
    size_t n;
};

#define TYPES                                                                                 \
    "(?:(?:const|static|unsigned|signed|struct|register)\\s+)*(?:char|int|float|double|long|" \
    "short|"                                                                                  \
    "size_t|FILE|bool|auto|(?:struct\\s+)?[A-Z]\\w*|node|(?:std::)?(?:string|vector|map|"     \
    "unordered_map|"                                                                          \
    "unique_ptr|shared_ptr)\\s*<.*>|(?<=struct )\\w+)"

static void add_declaration(struct crash *c, const struct match *m, uint32_t line, bool parameter)
{
    if (c->n == DECLARATIONS || piece_is(m->group[0], "return") || piece_is(m->group[0], "else"))
        return;
    c->all[c->n++] = (struct declaration){ m->group[0], m->group[1], m->group[2], m->group[3],
                                           m->group[4], line,        parameter };
}

static void read_declarations(struct crash *c)
{
    struct piece rest = text_of_source(c->file), line;
    struct match m;
    for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++) {
        struct piece more = line;
        if (match(c->a->g,
                  "^\\s*(?!if\\b|for\\b|while\\b|switch\\b|else\\b|return\\b)[\\w\\s*:<>&,]*\\b\\w+"
                  "\\s*\\(.*\\)"
                  "\\s*(?:const\\s*)?(?:\\{.*)?$",
                  line, &m))
            for (unsigned k = 0;
                 k < NAMES_ASKED &&
                 match(c->a->g,
                       "[(,]\\s*(" TYPES ")\\s*([*&]*)\\s*(\\w+)((?:\\[[^\\]]*\\])*)\\s*()(?=[,)])",
                       more, &m);
                 k++) {
                add_declaration(c, &m, n, true);
                more = piece_after(line, m.group[2]);
            }
        more = line;
        for (unsigned k = 0;
             k < NAMES_ASKED && match(c->a->g,
                                      "(?:^|[;{(])\\s*(" TYPES
                                      ")(?=[\\s*])\\s*(\\**)\\s*(\\w+)\\s*((?:\\[[^\\]]*\\])*)\\s*("
                                      "?:=\\s*(\"(?:[^\"\\\\]|\\\\.)*\"|[^;]*?))?\\s*(?=[;,])",
                                      more, &m);
             k++) {
            add_declaration(c, &m, n, false);
            more = piece_after(line, m.all);
        }
    }
}

/* The nearest declaration at the line or before it. */
static const struct declaration *declared(const struct crash *c, struct piece name, uint32_t line)
{
    const struct declaration *found = NULL;
    for (size_t i = 0; i < c->n; i++)
        if (c->all[i].line <= line && piece_same(c->all[i].name, name) &&
            (!found || c->all[i].line >= found->line))
            found = &c->all[i];
    return found;
}

static bool is_number(const struct declaration *d)
{
    static const char *const numbers[] = { "int",    "long", "short",        "float",     "double",
                                           "size_t", "char", "unsigned int", "long long", NULL };
    return d && d->stars.len == 0 && d->array.len == 0 && piece_among(d->type, numbers);
}

/* The location becomes the line, unless there is one. */
static void place(const struct crash *c, uint32_t line)
{
    struct diagnosis *d = c->a->d;
    if (d->location.line == 0)
        set_location(d, c->file->name, line);
}

/* ---- scanf() without &, printf() with the wrong letter ---- */

static bool is_scan(const struct crash *c, struct piece line, uint32_t n)
{
    struct match m, arg;
    if (!match(c->a->g, "\\b(f|s)?scanf\\s*\\(\\s*(?:[^\",]+,\\s*)?\"[^\"]*\"\\s*,(.*)\\)", line,
               &m))
        return false;
    struct piece rest = m.group[1], whole = m.group[1];
    for (unsigned k = 0;
         k < NAMES_ASKED && match(c->a->g, "(?:^|,)\\s*(\\w+)\\s*(?=,|$|\\))", rest, &arg); k++) {
        rest = piece_after(whole, arg.group[0]);
        if (!is_number(declared(c, arg.group[0], n)))
            continue;
        place(c, n);
        suggest(c->a->d, 38, 0.94,
                "scanf() stores a value at an address, and line %u passes the value of `%.*s`: "
                "write `&%.*s`.",
                n, P(arg.group[0]), P(arg.group[0]));
        size_t at = piece_offset(line, arg.group[0]);
        suggest_replacement(c->a->d, "%.*s&%.*s", P(piece_cut(line, at)), P(piece_skip(line, at)));
        return true;
    }
    return false;
}

/* The declaration of a number that an argument names: n, counts[i], or a member: row->count,
 * rows[i].count. Every declaration of a member's name must be a number. */
static const struct declaration *number_of(const struct crash *c, struct piece arg, uint32_t n)
{
    struct match m;
    if (match(c->a->g,
              "^\\w+(?:\\[[^\\]]*\\])*(?:(?:\\.|->)\\w+(?:\\[[^\\]]*\\])*)*(?:\\.|->)(\\w+)$", arg,
              &m)) {
        const struct declaration *found = NULL;
        for (size_t i = 0; i < c->n; i++)
            if (piece_same(c->all[i].name, m.group[0])) {
                if (!is_number(&c->all[i]))
                    return NULL;
                found = &c->all[i];
            }
        return found;
    }
    const struct declaration *d = declared(c, arg, n);
    if (match(c->a->g, "^(\\w+)\\[[^\\]]*\\]$", arg, &m)) {
        d = declared(c, m.group[0], n);
        struct declaration item = d ? *d : (struct declaration){ 0 };
        item.array = NO_PIECE;
        return d && match(c->a->g, "^\\[[^\\]]*\\]$", d->array, &m) && is_number(&item) ? d : NULL;
    }
    return is_number(d) ? d : NULL;
}

static bool is_print(const struct crash *c, struct piece line, uint32_t n)
{
    struct match m, f;
    if (!match(c->a->g,
               "\\b(?:f|s|sn)?printf\\s*\\((?:[^\",]+,\\s*){0,2}\\s*\"((?:[^\"\\\\]|\\\\.)*)\"\\s*,"
               "\\s*([^;]"
               "*)\\)\\s*;",
               line, &m))
        return match(c->a->g, "\\b(?:printf|puts)\\s*\\(\\s*'[^']{2,}'", line, &m) &&
               (place(c, n),
                suggest(c->a->d, 38, 0.94,
                        "A text stands in double quotes; single quotes (line %u) are for one "
                        "character.",
                        n),
                true);
    struct piece formats = m.group[0], whole = m.group[0], args = m.group[1], all = m.group[1], arg;
    while (match(c->a->g, "%[-+ #0-9.*]*(?:l|ll|z|h)*([a-zA-Z%])", formats, &f)) {
        formats = piece_after(whole, f.all);
        if (piece_is(f.group[0], "%"))
            continue;
        struct match v;
        if (piece_has(f.all, "*") ||
            !match(c->a->g, "^\\s*((?:[^,()]|\\((?:[^()]|\\([^()]*\\))*\\))+)(?:,|$)", args, &v))
            return false;
        arg = piece_trim(v.group[0]);
        args = piece_after(all, v.all);
        const struct declaration *d = piece_is(f.group[0], "s") ? number_of(c, arg, n) : NULL;
        if (!d)
            continue;
        bool real = piece_is(d->type, "double") || piece_is(d->type, "float");
        place(c, n);
        suggest(
            c->a->d, 38, 0.94,
            "%%s prints a text, and the type of `%.*s` (line %u) is %.*s: write %s in the format.",
            P(arg), n, P(d->type),
            real                        ? "%f"
            : piece_is(d->type, "char") ? "%c"
            : piece_has(d->type, "long") || piece_is(d->type, "size_t")
                ? piece_is(d->type, "size_t") ? "%zu" : "%ld"
                : "%d");
        return true;
    }
    return false;
}

/* ---- string literals that are written to ---- */

#define WRITES                                                                                  \
    "(?:\\bstr(?:cat|cpy|ncpy|ncat|tok|rev)|\\bsprintf|\\bsnprintf|\\bgets|\\bfgets|\\bmemcpy|" \
    "\\bmemset|\\bfread)\\s*"                                                                   \
    "\\(\\s*(\\w+)\\s*[,)]|(?<![=!<>\\w] "                                                      \
    ")\\b(\\w+)\\s*\\[[^\\]]*\\]\\s*(?:[-+*/"                                                   \
    "^]?=[^=]|\\+\\+)|(?:^|[;{(])\\s*\\*\\s*(\\w+)\\s*(?:\\+\\+)?\\s*[-+]?=[^=]"

/* The name that a line writes through. */
static struct piece written(const struct crash *c, struct piece line)
{
    struct match m;
    if (!match(c->a->g, WRITES, line, &m))
        return NO_PIECE;
    return m.group[0].at ? m.group[0] : m.group[1].at ? m.group[1] : m.group[2];
}

static void suggest_array(const struct crash *c, const struct declaration *d, uint32_t at)
{
    place(c, at);
    suggest(c->a->d, 38, 0.92,
            "Line %u writes to the string literal of line %u, which is read-only: make it an "
            "array, `char %.*s[] = %.*s;`%s.",
            at, d->line, P(d->name), P(piece_cut(d->value, 60)), "");
}

/* char *w = "text"; change(w); or change("text"), where change() writes to its parameter. */
static bool is_literal_passed(const struct crash *c, const struct declaration *parameter,
                              uint32_t at)
{
    struct match m, call;
    struct piece rest = text_of_source(c->file), line;
    if (!match(c->a->g, "(\\w+)\\s*\\(", source_line(c->file, parameter->line), &m))
        return false;
    for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (n == parameter->line ||
            !match(c->a->g, "\\b(\\w+)\\s*\\(\\s*(?:(\\w+)|(\"[^\"]*\"))\\s*[,)]", line, &call))
            continue;
        struct piece more = line;
        while (match(c->a->g, "\\b(\\w+)\\s*\\(\\s*(?:(\\w+)|(\"[^\"]*\"))\\s*[,)]", more, &call)) {
            more = piece_after(line, call.group[0]);
            if (!piece_same(call.group[0], m.group[0]))
                continue;
            const struct declaration *d = call.group[1].at ? declared(c, call.group[1], n) : NULL;
            if (call.group[2].at) {
                place(c, at);
                suggest(c->a->d, 38, 0.92,
                        "Line %u writes to the string literal that line %u passes, and a literal "
                        "is read-only: pass an array, char text[] = %.*s;",
                        at, n, P(piece_cut(call.group[2], 60)));
                return true;
            }
            if (d && piece_is(d->stars, "*") && d->array.len == 0 &&
                piece_byte(d->value, 0) == '"') {
                suggest_array(c, d, at);
                return true;
            }
        }
    }
    return false;
}

static bool is_literal(const struct crash *c, struct piece line, uint32_t n)
{
    struct piece name = written(c, line);
    const struct declaration *d = name.at ? declared(c, name, n) : NULL;
    if (!d || d->stars.len != 1 || !piece_has(d->type, "char"))
        return false;
    if (d->parameter)
        return is_literal_passed(c, d, n);
    if (piece_byte(d->value, 0) != '"' || d->line > n)
        return false;
    suggest_array(c, d, n);
    return true;
}

/* ---- pointers without memory ---- */

/* Whether the line tests the pointer itself: if (!p), while (p && ...), p == NULL, p ? a : b. */
static bool is_tested(const struct crash *c, struct piece line, struct piece name)
{
    struct match m;
    struct piece rest = line;
    while (match(
        c->a->g,
        "(?|\\b(?:if|while|assert|return)\\b\\s*\\(*\\s*!?\\s*(\\w+)\\s*(?=\\)|;|&&|\\|\\|)|"
        "(?:!|&&|\\|\\||;)\\s*\\(*\\s*(\\w+)\\s*(?=\\)|;|&&|\\|\\|)|(\\w+)\\s*(?:&&|\\|\\||\\?)|"
        "(\\w+)\\s*[!=]=\\s*(?:NULL|nullptr|0)\\b|(?:NULL|nullptr|0)\\s*[!=]=\\s*(\\w+)\\b|"
        "\\b(?:if|while)\\s*\\(+\\s*(\\w+)\\s*=[^=])",
        rest, &m)) {
        if (piece_same(m.group[0], name) &&
            !match(c->a->g, "(?:->|\\.)\\s*$", piece_cut(line, piece_offset(line, m.group[0])),
                   &(struct match){ 0 }))
            return true;
        rest = piece_after(line, m.group[0]);
    }
    return false;
}

/* A line between the two gives the name a value, or tests it. */
static bool is_set_between(const struct crash *c, struct piece name, uint32_t from, uint32_t to)
{
    struct match m;
    for (uint32_t n = from + 1; n < to; n++) {
        struct piece line = source_line(c->file, n), whole = line;
        if (is_tested(c, line, name))
            return true;
        while (match(c->a->g, "(?:^|[^\\w*.>&])(\\w+)\\s*=[^=]|&(\\w+)", line, &m)) {
            if (piece_same(m.group[0], name) || piece_same(m.group[1], name))
                return true;
            line = piece_after(whole, m.all);
        }
    }
    return false;
}

/* int *p = NULL; char *name; ... and a line uses them. */
static bool is_without_memory(const struct crash *c, struct piece line, uint32_t n)
{
    struct match m;
    struct piece more = line;
    while (match(c->a->g,
                 "(?<![.>\\w])(\\w+)\\s*(?:->|\\[)|(?:^|[^\\w)\\]*] "
                 "?)\\*\\s*(\\w+)\\b|\\b(?:strcpy|strcat|gets|sprintf|scanf|fgets|strlen|free)\\s*"
                 "\\((?:\\s*\"[^\"]*\"\\s*,)?\\s*(\\w+)|\\b(\\w+)\\s*\\(",
                 more, &m)) {
        struct piece name = m.group[0].at   ? m.group[0]
                            : m.group[1].at ? m.group[1]
                            : m.group[2].at ? m.group[2]
                                            : m.group[3];
        more = piece_after(line, name);
        const struct declaration *d = declared(c, name, n);
        if (!d || d->parameter || d->stars.len == 0 || d->line >= n || d->array.len > 0 ||
            is_set_between(c, name, d->line, n))
            continue;
        bool null = piece_is(d->value, "NULL") || piece_is(d->value, "nullptr") ||
                    piece_is(d->value, "0");
        if (!null && d->value.len > 0)
            continue;
        if (match(c->a->g, "\\b(?:if|while)\\b.*(?:NULL|nullptr|!)", line, &m))
            continue;
        place(c, n);
        if (null)
            suggest(c->a->d, 38, 0.9,
                    "`%.*s` is a null pointer since line %u, and line %u uses it: give it memory "
                    "first (malloc, new, the address of a variable), or test it.",
                    P(name), d->line, n);
        else
            suggest(c->a->d, 38, 0.92,
                    "`%.*s` (line %u) points nowhere yet, and line %u uses it: give it memory "
                    "first, %s.",
                    P(name), d->line, n,
                    piece_has(d->type, "char") ? "an array `char name[100];` or malloc()"
                                               : "malloc(), or the address of a variable");
        return true;
    }
    return false;
}

/* The result of fopen(), getenv() and similar functions that no line tests. */
static bool is_untested(const struct crash *c)
{
    static const char *const calls[] = {
        "fopen(", "getenv(", "strchr(", "strstr(", "strtok(", NULL
    };
    for (size_t i = 0; i < c->n; i++) {
        const struct declaration *d = &c->all[i];
        const char *call = NULL;
        for (size_t k = 0; calls[k]; k++)
            call = piece_has(d->value, calls[k]) ? calls[k] : call;
        if (!call ||
            (strcmp(call, "fopen(") == 0 && !piece_has(source_line(c->file, d->line), ", \"r")))
            continue;
        bool tested = false;
        struct piece rest = text_of_source(c->file), line;
        while (!tested && next_line(&rest, &line))
            tested = is_tested(c, line, d->name);
        if (tested)
            continue;
        struct piece function = piece_cut(piece_of(call), strlen(call) - 1);
        place(c, d->line);
        suggest(c->a->d, 38, 0.9,
                "%.*s() returns NULL when it fails%s, and no line tests `%.*s` (line %u): if (%.*s "
                "== NULL) { ... } before it is used.",
                P(function), strcmp(call, "fopen(") == 0 ? " (a file that is missing)" : "",
                P(d->name), d->line, P(d->name));
        return true;
    }
    return false;
}

/* ---- arrays ---- */

static bool is_local_returned(const struct crash *c, struct piece line, uint32_t n)
{
    struct match m;
    if (!match(c->a->g, "\\breturn\\s+(\\w+)\\s*;", line, &m))
        return false;
    const struct declaration *d = declared(c, m.group[0], n);
    if (!d || d->array.len == 0 || d->parameter ||
        piece_has(source_line(c->file, d->line), "static") ||
        indent_of(source_line(c->file, d->line)) == 0)
        return false;
    place(c, n);
    suggest(c->a->d, 38, 0.92,
            "Line %u returns the local array `%.*s`, which ends with its function: declare it "
            "`static`, use malloc(), or let the caller pass the array.",
            n, P(d->name));
    return true;
}

static bool is_too_large(const struct crash *c)
{
    struct match m;
    for (size_t i = 0; i < c->n; i++) {
        const struct declaration *d = &c->all[i];
        if (d->parameter || indent_of(source_line(c->file, d->line)) == 0 ||
            !match(c->a->g, "^\\[(\\d+)\\](?:\\[(\\d+)\\])?", d->array, &m))
            continue;
        uint64_t bytes = (uint64_t)piece_number(m.group[0]) *
                         (m.group[1].at ? piece_number(m.group[1]) : 1) *
                         (piece_has(d->type, "char")                                 ? 1
                          : piece_has(d->type, "int") || piece_has(d->type, "float") ? 4
                                                                                     : 8);
        if (bytes < STACK_BYTES)
            continue;
        place(c, d->line);
        suggest(c->a->d, 38, 0.93,
                "`%.*s` (line %u) takes %llu MiB of the stack, which has 8: declare it `static` or "
                "outside of the function, or allocate it with malloc() or a std::vector.",
                P(d->name), d->line, (unsigned long long)(bytes >> 20));
        return true;
    }
    return false;
}

static bool is_past_end(const struct crash *c, struct piece line, uint32_t n)
{
    struct match m, use;
    if (!match(c->a->g, "\\bfor\\s*\\(.*?(\\w+)\\s*(<=?)\\s*(\\d+)\\s*;", line, &m))
        return false;
    for (uint32_t k = n; k < n + 6; k++) {
        struct piece text = source_line(c->file, k);
        if (!match(c->a->g, "\\b(\\w+)\\[(\\w+)\\]", k == n ? piece_after(text, m.all) : text,
                   &use) ||
            !piece_same(use.group[1], m.group[0]))
            continue;
        const struct declaration *d = declared(c, use.group[0], k);
        struct match size;
        if (!d || !match(c->a->g, "^\\[(\\d+)\\]$", d->array, &size))
            continue;
        uint32_t last = piece_number(m.group[2]) + (piece_is(m.group[1], "<=") ? 1 : 0);
        if (last <= piece_number(size.group[0]))
            continue;
        place(c, k);
        suggest(c->a->d, 38, 0.93,
                "The loop in line %u runs past the end of `%.*s`, which has %u items (line %u): "
                "write %.*s < %u.",
                n, P(d->name), piece_number(size.group[0]), d->line, P(m.group[0]),
                piece_number(size.group[0]));
        return true;
    }
    return false;
}

static bool is_small_copy(const struct crash *c, struct piece line, uint32_t n)
{
    struct match m, size;
    if (!match(c->a->g, "\\b(strcpy|strcat|gets|sprintf)\\s*\\(\\s*(\\w+)", line, &m) ||
        match(c->a->g, "\\bstrcpy\\s*\\(\\s*\\w+\\s*,\\s*\"", line, &size))
        return false;
    const struct declaration *d = declared(c, m.group[1], n);
    if (!d || !match(c->a->g, "^\\[(\\d+)\\]$", d->array, &size) ||
        piece_number(size.group[0]) > 64)
        return false;
    suggest(c->a->d, 38, 0.88,
            "%.*s() in line %u does not look at the size of `%.*s`, which has %u bytes (line %u): "
            "use snprintf(%.*s, sizeof %.*s, ...), or make it larger.",
            P(m.group[0]), n, P(d->name), piece_number(size.group[0]), d->line, P(d->name),
            P(d->name));
    place(c, n);
    return true;
}

/* ---- lists, arguments, containers ---- */

static bool is_chain(const struct crash *c, struct piece line, uint32_t n)
{
    struct match m, in;
    if (match(c->a->g, "\\bwhile\\s*\\(\\s*(\\w+)->(\\w+)", line, &m) &&
        !match(c->a->g, "&&|\\|\\||NULL|nullptr", line, &in)) {
        place(c, n);
        suggest(c->a->d, 38, 0.88,
                "At the end of the list `%.*s` is a null pointer, and line %u reads %.*s->%.*s: "
                "test it first, while (%.*s && %.*s->%.*s ...).",
                P(m.group[0]), n, P(m.group[0]), P(m.group[1]), P(m.group[0]), P(m.group[0]),
                P(m.group[1]));
        return true;
    }
    if (match(c->a->g, "\\b(\\w+->\\w+)->(\\w+)", line, &m) &&
        !match(c->a->g, "&&|\\?|\\bif\\b|\\bwhile\\b|=[^=]", line, &in) &&
        match_text(c->a->g, "\\b(?:NULL|nullptr)\\b", text_of_source(c->file), &in)) {
        place(c, n);
        suggest(c->a->d, 38, 0.7,
                "`%.*s` is most likely a null pointer in line %u: test it before `->%.*s`, if "
                "(%.*s) { ... }.",
                P(m.group[0]), n, P(m.group[1]), P(m.group[0]));
        return true;
    }
    if (match(c->a->g, "\\bargv\\[([1-9])\\]", line, &m) &&
        !match_text(c->a->g, "\\bargc\\s*[<>=!]", text_of_source(c->file), &in)) {
        place(c, n);
        suggest(c->a->d, 9, 0.92,
                "The program was started without arguments, so argv[%.*s] (line %u) is a null "
                "pointer: test argc > %.*s first, or pass the argument.",
                P(m.group[0]), n, P(m.group[0]));
        return true;
    }
    if (match(c->a->g, "\\b(strcmp|strlen|strcpy|strcat|puts|atoi)\\s*\\(\\s*(\\w+)\\s*[,)]", line,
              &m) &&
        is_number(declared(c, m.group[1], n))) {
        place(c, n);
        suggest(c->a->d, 38, 0.93,
                "%.*s() takes a text, and `%.*s` (line %u) is a %.*s: compare a character with ==, "
                "`%.*s == 'a'`.",
                P(m.group[0]), P(m.group[1]), n, P(declared(c, m.group[1], n)->type),
                P(m.group[1]));
        return true;
    }
    return false;
}

/* The function whose body reads through its parameter without a test. */
struct reader {
    const struct declaration *parameter;
    struct piece name;   /* the parameter, or a variable that was set to it */
    struct piece member; /* "next" of `cur->next` */
    uint32_t line, end;
};

/* Whether the body reads a member of the parameter before any line tests it. */
static bool reads_untested(const struct crash *c, struct reader *r)
{
    struct match m;
    r->name = r->parameter->name;
    for (uint32_t n = r->parameter->line; n < r->parameter->line + LINES_NEAR; n++) {
        struct piece line = source_line(c->file, n), rest = line;
        if (n == r->parameter->line)
            rest = line = piece_skip(line, piece_find(line, "{"));
        else if (starts_with(line, "}") || !line.at)
            return false;
        if (is_tested(c, line, r->name) || is_tested(c, line, r->parameter->name))
            return false;
        while (match(c->a->g, "(?<![\\w.>])(\\w+)\\s*->\\s*(\\w+)", rest, &m)) {
            rest = piece_after(line, m.group[0]);
            if (!piece_same(m.group[0], r->name) && !piece_same(m.group[0], r->parameter->name))
                continue;
            r->name = m.group[0];
            r->member = m.group[1];
            r->line = n;
            return true;
        }
        if (match(c->a->g, "(\\w+)\\s*=\\s*(\\w+)\\s*;", line, &m) &&
            piece_same(m.group[1], r->parameter->name))
            r->name = m.group[0];
        else if (match(c->a->g, "(\\w+)\\s*=[^=]", line, &m) &&
                 (piece_same(m.group[0], r->parameter->name) || piece_same(m.group[0], r->name)))
            return false;
    }
    return false;
}

/* The parameter at a position of the function that is defined by this name. */
static const struct declaration *parameter_of(const struct crash *c, struct piece function,
                                              size_t position)
{
    struct match m;
    size_t k = 0;
    uint32_t last = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct declaration *d = &c->all[i];
        if (!d->parameter)
            continue;
        k = d->line == last ? k + 1 : 0;
        last = d->line;
        struct piece line = source_line(c->file, d->line);
        if (k == position && d->stars.len == 1 && !ends_with(piece_trim_end(line), ";") &&
            match(c->a->g, "(\\w+)\\s*\\(", line, &m) && piece_same(m.group[0], function))
            return d;
    }
    return NULL;
}

/* Item *head = NULL; ... head = append(head, 1); where append() reads head->next. */
static bool is_null_passed(const struct crash *c, struct piece line, uint32_t n)
{
    struct match call, arg;
    struct piece rest = line;
    while (match(c->a->g, "\\b(\\w+)\\s*\\(([^()]*)\\)", rest, &call)) {
        rest = piece_after(line, call.all);
        struct piece more = call.group[1];
        for (size_t k = 0;
             k < BLANKS_NEAR && match(c->a->g, "^\\s*([^,]+?)\\s*(?:,|$)", more, &arg); k++) {
            more = piece_after(call.group[1], arg.all);
            const struct declaration *d = declared(c, arg.group[0], n);
            struct reader r = { .parameter = NULL };
            if (!d || d->parameter || d->stars.len != 1 || d->line >= n ||
                !match(c->a->g, "^(?:NULL|nullptr|0)$", d->value, &(struct match){ 0 }) ||
                is_set_between(c, d->name, d->line, n) ||
                !(r.parameter = parameter_of(c, call.group[0], k)) || !reads_untested(c, &r))
                continue;
            place(c, r.line);
            suggest(c->a->d, 38, 0.92,
                    "`%.*s` is NULL (line %u) in the first call of %.*s() (line %u), and line %u "
                    "reads `%.*s->%.*s`: handle the empty list before that line, if (%.*s == NULL) "
                    "return ...;",
                    P(d->name), d->line, P(call.group[0]), n, r.line, P(r.name), P(r.member),
                    P(r.name));
            return true;
        }
    }
    return false;
}

static bool is_container(const struct crash *c, struct piece line, uint32_t n)
{
    struct match m, in;
    struct piece name = NO_PIECE;
    if (match(c->a->g, "\\b(\\w+)\\[[^\\]]*\\]\\s*->", line, &m) ||
        match(c->a->g,
              "\\*\\s*\\w+\\s*=\\s*(\\w+)\\[[^\\]]*\\]\\s*;|\\bauto\\s+\\w+\\s*=\\s*(\\w+)\\[",
              line, &m))
        name = m.group[0].at ? m.group[0] : m.group[1];
    struct piece rest = text_of_source(c->file), other;
    for (uint32_t k = 1; name.at && k < n && next_line(&rest, &other); k++)
        if (match(c->a->g, "\\b(?:unordered_)?map\\s*<[^;]*\\*\\s*>\\s*&?\\s*(\\w+)", other, &in) &&
            piece_same(in.group[0], name)) {
            place(c, n);
            suggest(c->a->d, 38, 0.92,
                    "`%.*s[key]` gives a null pointer for a key that is not in the map (line %u; "
                    "upper and lower case differ): look with %.*s.find(key) or count(key) first.",
                    P(name), n, P(name));
            return true;
        }
    if (match(c->a->g, "std::move\\((\\w+)\\)", line, &m))
        for (uint32_t k = n + 1; k < n + LINES_NEAR; k++)
            if (match(c->a->g, "\\b(\\w+)->", source_line(c->file, k), &in) &&
                piece_same(in.group[0], m.group[0])) {
                place(c, k);
                suggest(c->a->d, 38, 0.92,
                        "std::move() in line %u takes the object away, so `%.*s` is null in line "
                        "%u: use it before, or use the new owner.",
                        n, P(m.group[0]), k);
                return true;
            }
    return false;
}

/* A vector that no line fills. */
static bool is_empty_vector(const struct crash *c, struct piece line, uint32_t n)
{
    struct match m, in;
    struct piece rest, other;
    if (match(c->a->g, "\\bvector\\s*<.*>\\s+(\\w+)\\s*;", line, &m)) {
        bool filled = false;
        struct piece vector = m.group[0];
        rest = text_of_source(c->file);
        uint32_t used = 0;
        for (uint32_t k = 1; k < LINES_SEEN && next_line(&rest, &other); k++) {
            filled = filled ||
                     (match(c->a->g,
                            "\\b(\\w+)\\.(?:push_back|emplace_back|resize|assign|insert)\\b|\\b("
                            "\\w+)\\s*=[^=]",
                            other, &in) &&
                      (piece_same(in.group[0], vector) || piece_same(in.group[1], vector)));
            if (!used && k > n &&
                match(c->a->g, "\\b(\\w+)(?:\\[|\\.(?:back|front|pop_back)\\()", other, &in) &&
                piece_same(in.group[0], vector))
                used = k;
        }
        if (used && !filled) {
            place(c, used);
            suggest(c->a->d, 38, 0.92,
                    "The vector `%.*s` (line %u) is empty, and line %u uses an item of it: add "
                    "items with push_back(), or give it a size, %.*s(n).",
                    P(vector), n, used, P(vector));
            return true;
        }
    }
    return false;
}

bool gcc_explain_crash(const struct advice *a)
{
    static bool (*const rules[])(const struct crash *, struct piece, uint32_t) = {
        is_scan,           is_print,    is_literal,     is_without_memory,
        is_local_returned, is_past_end, is_null_passed, is_container,
        is_empty_vector,   is_chain,    is_small_copy,
    };
    for (size_t f = 0; f < a->in->n_sources && f < 4; f++) {
        struct crash c = { .a = a, .file = &a->in->sources[f] };
        if (c.file->len > FILE_BYTES)
            continue;
        read_declarations(&c);
        if (is_too_large(&c))
            return true;
        for (size_t r = 0; r < ARRAY_LEN(rules); r++) {
            struct piece rest = text_of_source(c.file), line;
            for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++)
                if (!starts_with(piece_trim(line), "//") && rules[r](&c, line, n))
                    return true;
        }
        if (is_untested(&c))
            return true;
    }
    return false;
}

/* ---- free() ---- */

/* The last line before `to`, in the same function, that moves the pointer; 0 when none does, or when
 * it gets another value behind that. */
static uint32_t moved(const struct crash *c, struct piece name, uint32_t to)
{
    struct match m;
    for (uint32_t n = to - 1; n > 0 && n + LINES_NEAR > to; n--) {
        struct piece line = source_line(c->file, n), rest = line;
        if (starts_with(line, "}"))
            return 0;
        while (match(
            c->a->g,
            "(?:\\+\\+|--)\\s*(\\w+)\\b(?!\\s*(?:->|\\[|\\.))|(?<![\\w.>])(\\w+)\\s*(?:\\+\\+|--|[-"
            "+]=)|(?<![\\w.>])(\\w+)\\s*=\\s*\\3\\s*[-+]",
            rest, &m)) {
            for (size_t k = 0; k < 3; k++)
                if (m.group[k].at && piece_same(m.group[k], name))
                    return n;
            rest = piece_after(line, m.all);
        }
        if (match(c->a->g, "(?<![\\w.>])(\\w+)\\s*=[^=]", line, &m) && piece_same(m.group[0], name))
            return 0;
    }
    return 0;
}

/* A moved pointer, an array, or a literal. */
static bool is_freed_wrongly(const struct crash *c, struct piece line, uint32_t n)
{
    struct match m, set;
    if (!match(c->a->g,
               "\\b(?:(free|realloc)\\s*\\(\\s*|delete(?:\\s*\\[\\s*\\])?\\s+)(&?)(\\w+)\\s*[;),]",
               line, &m))
        return false;
    const char *how = m.group[0].at ? "malloc()" : "new";
    struct piece name = m.group[2];
    const struct declaration *d = declared(c, name, n);
    uint32_t at = d && d->stars.len > 0 && d->array.len == 0 ? moved(c, name, n) : 0;
    if (at) {
        place(c, n);
        suggest(c->a->d, 38, 0.94,
                "Line %u frees `%.*s`, which line %u moved: only the pointer that %s returned "
                "can be freed. Keep that one, and move another variable.",
                n, P(name), at, how);
        return true;
    }
    const struct declaration *of = d && d->stars.len == 1 ? declared(c, d->value, n) : NULL;
    if (of && !is_set_between(c, name, d->line, n)) /* int *p = values; */
        d = of;
    bool array = d && !d->parameter && d->array.len > 0 && d->stars.len == 0;
    bool literal = d && d->stars.len == 1 && piece_byte(d->value, 0) == '"' &&
                   !is_set_between(c, name, d->line, n);
    bool address = d && d->stars.len == 1 && match(c->a->g, "^&\\w+$", d->value, &set) &&
                   !is_set_between(c, name, d->line, n);
    if (m.group[1].len == 0 && !array && !literal && !address)
        return false;
    place(c, n);
    suggest(c->a->d, 38, 0.93,
            "Line %u frees `%.*s%.*s`, which is %s and did not come from %s: remove that line.", n,
            P(m.group[1]), P(name),
            literal                        ? "a string literal"
            : array && m.group[1].len == 0 ? "an array"
                                           : "the address of a variable",
            how);
    return true;
}

void gcc_explain_free(const struct advice *a)
{
    for (size_t f = 0; f < a->in->n_sources && f < 4; f++) {
        struct crash c = { .a = a, .file = &a->in->sources[f] };
        if (c.file->len > FILE_BYTES)
            continue;
        read_declarations(&c);
        struct piece rest = text_of_source(c.file), line;
        for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++)
            if (!starts_with(piece_trim(line), "//") && is_freed_wrongly(&c, line, n)) {
                suggest(a->d, 38, 0.8, "%s", gcc_sanitizers);
                return;
            }
    }
}

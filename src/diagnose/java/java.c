/* Java: reads and explains errors of javac and of the virtual machine. Runs in: keeper. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/rules.h"
#include "diagnose/java.words.h" /* generated */

/* ---- names ---- */

static void advise_symbol(const struct advice *a)
{
    struct piece kind = a->m.group[0], name = a->m.group[1];
    struct match c;
    char best[128];
    const char *home = piece_is(kind, "method") ? NULL : word_with(homes, name);
    if (home) {
        suggest(a->d, 0, 0.95, "`%.*s` is in the package %s: import it at the top of the file.",
                P(name), home);
        suggest_replacement(a->d, "import %s.%.*s;", home, P(name));
        return;
    }
    struct piece of = match(a->g, "of type ([\\w<>.\\[\\]]+)", a->message, &c) ? c.group[0]
                                                                               : NO_PIECE;
    bool array = piece_has(of, "["), call = piece_is(kind, "method");
    if (piece_is(name, "length") && of.at && (array ? call : piece_is(of, "String") && !call)) {
        suggest(a->d, 0, 0.9,
                array ? "The length of an array is not a method: write `length` without brackets."
                      : "The length of a String is a method: write `length()`.");
        (void)suggest_swap(a->in, a->d, array ? PIECE("length()") : name,
                           array ? "length" : "length()");
        return;
    }
    for (size_t i = 0; of.at && i < ARRAY_LEN(members); i++)
        if (piece_is(name, members[i].wrong) && piece_has(of, members[i].of)) {
            suggest(a->d, 0, 0.9, "A %.*s has no `%s`: use `%s`.", P(of), members[i].wrong,
                    members[i].right);
            (void)suggest_swap(a->in, a->d, name, members[i].right);
            return;
        }
    const char *own = piece_is(kind, "class") ? text_for(type_names, name) : NULL;
    if (own) {
        suggest(a->d, 3, 0.95, "In Java the type is `%s`.", own);
        (void)suggest_swap(a->in, a->d, name, own);
        return;
    }
    if (similar_name(a->in, name, names, best, sizeof best)) {
        suggest(a->d, 0, 0.85, "Did you mean `%s`? There is no %.*s `%.*s`.", best, P(kind),
                P(name));
        (void)suggest_swap(a->in, a->d, name, best);
        return;
    }
    suggest(a->d, 0, 0.5, "Declare the %.*s `%.*s`, or import the class that has it.", P(kind),
            P(name));
}

static bool is_name(struct piece p)
{
    bool good = p.len > 0 && (piece_byte(p, 0) < '0' || piece_byte(p, 0) > '9');
    for (size_t i = 0; i < p.len; i++)
        good = good && (isalnum((unsigned char)piece_byte(p, i)) || piece_byte(p, i) == '_' ||
                        piece_byte(p, i) == '$' || (unsigned char)piece_byte(p, i) >= 0x80);
    return good;
}

static void advise_class_file(const struct advice *a)
{
    struct piece file = piece_base(piece_of(a->d->location.file));
    size_t dot = piece_find(file, ".java");
    char wanted[128];
    COPY(piece_cut(file, dot), wanted);
    if (!is_name(piece_of(wanted))) { /* no class can have a name such as 01-hello */
        suggest(a->d, 38, 0.95,
                "A public class must have the name of its file: name the file %.*s.java.",
                P(a->m.group[0]));
        return;
    }
    suggest(a->d, 38, 0.95,
            "A public class must have the name of its file: name the class `%s`, or the file "
            "%.*s.java.",
            wanted, P(a->m.group[0]));
    (void)suggest_swap(a->in, a->d, a->m.group[0], wanted);
}

/* ---- types ---- */

/* Offers the line with a text inserted at the caret. */
static void replace_at_caret(const struct advice *a, const char *before)
{
    uint32_t column = a->d->location.column;
    if (a->line.at && column > 0)
        suggest_replacement(a->d, "%.*s%s%.*s", P(piece_before(a->line, column)), before,
                            P(piece_from(a->line, column)));
}

static void advise_lossy(const struct advice *a)
{
    char cast[40];
    struct match e;
    (void)snprintf(cast, sizeof cast, "(%.*s) ", P(a->m.group[1]));
    if (match(a->g, "^(.*?(?:[^=!<>]=|\\breturn)\\s*)([^;=]*\\s[-+*/]\\s[^;=]*)(;\\s*\\}?\\s*)$",
              a->line, &e) &&
        !piece_has(e.group[1], "{")) {
        suggest(a->d, 0, 0.9,
                "A %.*s may not fit a %.*s: write the cast `(%.*s)` before the calculation in "
                "brackets, or declare it as %.*s.",
                P(a->m.group[0]), P(a->m.group[1]), P(a->m.group[1]), P(a->m.group[0]));
        suggest_replacement(a->d, "%.*s(%.*s) (%.*s)%.*s", P(e.group[0]), P(a->m.group[1]),
                            P(e.group[1]), P(e.group[2]));
        return;
    }
    suggest(a->d, 0, 0.85,
            "A %.*s may not fit a %.*s: write the cast `%s` before it, or declare it as "
            "%.*s.",
            P(a->m.group[0]), P(a->m.group[1]), cast, P(a->m.group[0]));
    if (!match(a->g, "\\s[-+*/%]\\s", a->line, &e))
        replace_at_caret(a, cast);
}

static void advise_convert(const struct advice *a)
{
    struct piece from = a->m.group[0], to = a->m.group[1];
    if (piece_is(from, "String") && (piece_is(to, "int") || piece_is(to, "Integer")))
        suggest(a->d, 0, 0.85,
                "A String is not converted to a number automatically: use Integer.parseInt(text), "
                "or write the number without quotes.");
    else if (piece_is(from, "String") && (piece_is(to, "double") || piece_is(to, "Double")))
        suggest(a->d, 0, 0.85,
                "A String is not converted to a number automatically: use "
                "Double.parseDouble(text), or write the number without quotes.");
    else if (piece_is(to, "String"))
        suggest(a->d, 0, 0.85, "String.valueOf(value) converts a %.*s to a String.",
                P(a->m.group[0]));
    else if (piece_is(to, "boolean") && piece_is(from, "String"))
        suggest(
            a->d, 0, 0.88,
            "A condition must be a boolean, and `=` assigns: texts are compared with a.equals(b).");
    else if (piece_is(to, "char") && piece_is(from, "String"))
        suggest(
            a->d, 0, 0.93,
            "One character stands in single quotes, 'a'; text.charAt(0) takes one of a String.");
    else if (piece_has(from, "no instance(s)") || piece_has(from, "inference variable"))
        suggest(a->d, 11, 0.75,
                "The types do not fit: a Stream ends with collect(...), toList(), findFirst() or "
                "another call that gives a value.");
    else if (piece_is(to, "boolean"))
        suggest(a->d, 0, 0.8,
                "A condition must be a boolean: compare with `==`, `>` or `!= null`.");
    else
        suggest(a->d, 0, 0.5,
                "A %.*s is expected there, and this is a %.*s: convert it, or change the type.",
                P(a->m.group[1]), P(a->m.group[0]));
    struct piece line = a->line;
    struct match c;
    if (piece_is(from, "String") && piece_is(to, "int") &&
        match(a->g, "^(.*)\"(-?\\d+)\"(.*)$", line, &c))
        suggest_replacement(a->d, "%.*s%.*s%.*s", P(c.group[0]), P(c.group[1]), P(c.group[2]));
}

/* ---- null ---- */

/* "because "<local1>.next" is null": without debugging names, the source has them. */
static void advise_null(const struct advice *a)
{
    struct piece what = a->m.group[0];
    char name[128], member[80] = "";
    struct match c, n;
    COPY(what, name);
    if (piece_has(what, "<local")) {
        if (match(a->g, "(?:\"[\\w.$]*?\\.?(\\w+)(?:\\(.*\\))?\") because", a->message, &c))
            COPY(c.group[0], member);
        struct piece line = a->line;
        name[0] = '\0';
        for (unsigned i = 0; i < 16 && match(a->g, "([A-Za-z_][\\w.\\[\\]]*)\\.(\\w+)", line, &n);
             i++) {
            if (piece_is(n.group[1], member)) {
                COPY(n.group[0], name);
                break;
            }
            line = piece_skip(line, piece_offset(line, n.group[1]));
        }
    }
    if (!name[0])
        COPY(what, name);
    /* "the return value of "Main$Repo.findUser(int)"" is not how the source writes it. */
    if (match(a->g, "([\\w]+)\\([^()]*\\)$", piece_of(name), &c)) {
        suggest(a->d, 38, 0.9,
                "`%.*s(...)` returned null there: store its result in a variable, and check that "
                "it is not null before using it.",
                P(c.group[0]));
        return;
    }
    if (piece_has(piece_of(name), "["))
        suggest(a->d, 38, 0.9,
                "`%s` is null there: `new T[n]` makes an array of nulls: put an object into each "
                "place first, `%s = new ...`.",
                name, name);
    else
        suggest(a->d, 38, 0.9,
                "`%s` is null there: give it a value before, or check `%s != null` first.", name,
                name);
    if (!piece_has(piece_of(name), "("))
        point_at(a->in, a->d, piece_of(name));
}

static void advise_bounds(const struct advice *a)
{
    struct match c;
    uint32_t loop = line_above_with(a, "<=\\s*[\\w.]+\\.(length|size)", &c);
    uint32_t length = piece_number(a->m.group[1]);
    if (loop)
        suggest(a->d, 0, 0.9,
                "Line %u counts to the %.*s itself, and the last index is one less: write `<` for "
                "`<=`.",
                loop, P(c.group[0]));
    else if ((loop = line_above_with(
                  a, "\\bint\\s+(\\w+)\\s*=\\s*([\\w.]+\\.(?:length|size)(?:\\(\\))?)\\s*;.*--",
                  &c)))
        suggest(a->d, 0, 0.94,
                "Line %u begins at the length itself, and the last index is one less: write %.*s = "
                "%.*s - 1.",
                loop, P(c.group[0]), P(c.group[1]));
    else if (match(a->g,
                   "\\[\\s*([\\w.]+)\\.length\\s*\\]|(?:get|charAt)\\(\\s*[\\w.]+\\.(?:size|length)"
                   "\\(\\)\\s*\\)",
                   a->line, &c))
        suggest(
            a->d, 0, 0.95,
            "The last index is the length minus one: write `length - 1` (size() - 1 for a list).");
    else if (match(a->g, "[\\[(]\\s*(\\w+)\\s*\\+\\s*1\\s*[\\])]", a->line, &c))
        suggest(a->d, 0, 0.92,
                "`%.*s + 1` is past the end in the last round: let the loop run while %.*s < "
                "length - 1.",
                P(c.group[0]), P(c.group[0]));
    else if (length == 0 && match(a->g, "\\bargs\\[", a->line, &c))
        suggest(a->d, 9, 0.93,
                "The program was started without arguments: test args.length first, or pass them.");
    else if (length == 0 && match(a->g, "\\.set\\(", a->line, &c))
        suggest(a->d, 0, 0.93,
                "The list is empty, and set() replaces an item that is there: add() adds one. The "
                "number in new "
                "ArrayList<>(n) is room, not a size.");
    else if (length == 0)
        suggest(a->d, 0, 0.8, "The length or size is 0: check it before index %.*s.",
                P(a->m.group[0]));
    else
        suggest(
            a->d, 0, 0.8,
            "Index %.*s is out of range: with a length or size of %u, the last valid index is %u. "
            "Check the index first.",
            P(a->m.group[0]), length, length - 1);
}

static void advise_unreported(const struct advice *a)
{
    /* A lambda cannot throw an exception that its interface does not declare. */
    if (piece_has(a->line, "->") || piece_has(a->line, "::"))
        suggest(a->d, 0, 0.9,
                "A lambda cannot throw %.*s: catch it inside, `x -> { try { ... } catch (%.*s e) { "
                "throw new RuntimeException(e); } }`.",
                P(a->m.group[0]), P(a->m.group[0]));
}

/* A constructor that does not call super(...) calls super(). */
static void advise_super(const struct advice *a)
{
    struct match c;
    struct piece line = a->line;
    if (has_word(line, PIECE("new")))
        return;
    if (match(a->g, "\\bclass\\s", line, &c))
        suggest(a->d, 0, 0.85,
                "`%.*s`, which it extends, has no constructor without arguments: write a "
                "constructor that begins with `super(...)` and gives it %.*s.",
                P(a->m.group[0]), P(a->m.group[1]));
    else if (match(a->g, "\\)\\s*(?:throws .*)?\\{", line, &c))
        suggest(a->d, 0, 0.9,
                "The constructor must begin with `super(...)`, because `%.*s`, which it extends, "
                "takes %.*s.",
                P(a->m.group[0]), P(a->m.group[1]));
}

static void advise_nothing_left(const struct advice *a)
{
    if (!piece_has(text_of(a->in), "java.util.Scanner"))
        suggest(a->d, 0, 0.8,
                "The collection is empty: test isEmpty() (or hasNext() of an iterator) before "
                "taking an element.");
}

/* The class declares a field of that name. */
static bool has_field(const struct advice *a, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++)
        if (match(a->g,
                  "^\\s+(?:(?:private|protected|public|static|final|volatile)\\s+)+[\\w<>\\[\\], "
                  "?]*?\\b(\\w+)\\s*(?:=[^=].*)?;",
                  line, &m) &&
            piece_same(m.group[0], name))
            return true;
    return false;
}

/* String getName() { return getName(); }, void setName(String name) { setName(name); } */
static void advise_recursion(const struct advice *a)
{
    struct match m, call;
    char field[128];
    uint32_t at = line_above_with(a, "(?<!new)(?<!return)\\s(\\w+)\\s*\\(([^()]*)\\)[\\w\\s,.]*\\{",
                                  &m);
    if (!at)
        return;
    struct piece name = m.group[0], parameters = m.group[1];
    struct piece code = at == a->d->location.line ? piece_after(a->line, m.all) : a->line;
    if (!match(a->g, "^\\s*(return\\s+)?(?:this\\.)?(\\w+)\\((\\w*)\\)\\s*;", code, &call) ||
        !piece_same(call.group[1], name))
        return;
    bool prefix = match(a->g, "^(?:get|set|is)([A-Z]\\w*)$", name, &m);
    COPY(prefix ? m.group[0] : name, field);
    if (prefix)
        field[0] = (char)(field[0] | 32);
    if (!has_field(a, piece_of(field)))
        return;
    bool gets = call.group[0].at && call.group[2].len == 0 && parameters.len == 0;
    if (!gets && (call.group[0].at || call.group[2].len == 0))
        return;
    char better[300];
    if (gets)
        (void)snprintf(better, sizeof better, "return %s;", field);
    else
        (void)snprintf(better, sizeof better, "this.%s = %.*s;", field,
                       P(piece_cut(call.group[2], 100)));
    suggest(a->d, 24, 0.95,
            "%.*s() calls itself (line %u), without an end: use the field `%s`, `%s`.", P(name),
            a->d->location.line, field, better);
    if (at != a->d->location.line)
        suggest_replacement(a->d, "%.*s%s", P(piece_cut(a->line, indent_of(a->line))), better);
}

/* A loop without an end whose closing brace is in the line: its first line. 0: the block is another. */
static uint32_t endless_loop(const struct advice *a, uint32_t end, struct match *ret)
{
    size_t indent = indent_of(source_line(a->file, end));
    struct match m;
    for (uint32_t n = end; n > 0 && n + LINES_NEAR > end; n--) {
        struct piece line = source_line(a->file, n);
        if (match(a->g, "\\bbreak\\b", line, &m))
            return 0;
        if (n == end || piece_trim(line).len == 0 || indent_of(line) != indent)
            continue;
        return match(a->g,
                     "\\b(while\\s*\\(\\s*true\\s*\\)|for\\s*\\([^;]*;\\s*(?:true\\s*)?;[^;]*\\))"
                     "\\s*\\{?\\s*$",
                     line, ret)
                   ? n
                   : 0;
    }
    return 0;
}

/* The statement before the line leaves the block, or is a loop without an end. */
static void advise_unreachable(const struct advice *a)
{
    struct match m;
    uint32_t n = a->d->location.line;
    struct piece before = NO_PIECE;
    for (unsigned k = 0; k < BLANKS_NEAR && n > 1 && before.len == 0; k++) {
        before = piece_trim(piece_trim_end(source_line(a->file, --n)));
        if (starts_with(before, "//"))
            before = NO_PIECE;
    }
    uint32_t loop = piece_is(before, "}") ? endless_loop(a, n, &m) : 0;
    if (loop)
        suggest(
            a->d, 0, 0.94,
            "The loop `%.*s` in line %u has no `break`, so the program never reaches line %u: give "
            "the loop a condition, or leave it with `if (...) break;`.",
            P(m.group[0]), loop, a->d->location.line);
    else if (indent_of(source_line(a->file, n)) == indent_of(a->line) &&
             match(a->g, "^(?:return|throw|break|continue)\\b.*;$", before, &m))
        suggest(a->d, 0, 0.93,
                "The program never reaches this line, because `%.*s` in line %u leaves before it: "
                "move the line above that, or remove one of the two.",
                P(piece_cut(before, 100)), n);
}

#include "diagnose/java.rules.h" /* generated */

/* ---- reading ---- */

#define ERROR "^(\\S.*\\.java):(\\d+): error: (.*)$"

static bool next_error(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                       struct further_error *ret)
{
    struct piece line;
    struct match m;
    if (!match_next(g, ERROR, rest, &m))
        return false;
    (void)set_place(in, &ret->at, m.group[0], m.group[1], NO_PIECE);
    COPY(m.group[2], ret->message);
    struct piece after = *rest;
    for (unsigned k = 0; k < 6 && next_line(&after, &line) && !match(g, ERROR, line, &m); k++) {
        if (match(g, "^(\\s*)\\^\\s*$", line, &m))
            ret->at.column = (uint32_t)m.group[0].len + 1;
        else if (match(g, "^  +symbol: +(.*)$", line, &m)) /* the message needs it */
            APPEND(ret->message, ": ", m.group[0]);
    }
    return true;
}

static bool read_compiler(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line, shown = NO_PIECE;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (!match(g, ERROR, line, &m))
            continue;
        (void)set_place(in, &d->location, m.group[0], m.group[1], NO_PIECE);
        COPY(m.group[2], d->message);
        for (unsigned k = 0; k < 12 && next_line(&rest, &line); k++) {
            if (match(g, "^\\d+ errors?$|\\.java:\\d+: |^Note: ", line, &m))
                break;
            if (match(g, "^(\\s*)\\^\\s*$", line, &m) && d->location.column == 0) {
                d->location.column = (uint32_t)m.group[0].len + 1;
                point_over_word(in, d);
                show_line(d, d->location.line, shown);
            } else if (match(g, "^  +(?:symbol|location|required|found|reason): ", line, &m) ||
                       (d->location.column > 0 && match(g, "^  [a-z(]", line, &m))) {
                APPEND(d->message, "\n", piece_trim(line));
            }
            shown = line;
        }
        read_further(g, in, next_error, d);
        return true;
    }
    return false;
}

/* Methods that the compiler adds to an enum, at the line of its declaration. */
static bool is_of_enum(struct diagnoser *g, const struct diagnose_input *in, const struct match *m,
                       unsigned *asked)
{
    struct match c;
    if (!match(g, "\\.(?:valueOf|values)$", m->group[0], &c) || ++*asked > BLANKS_NEAR)
        return false;
    struct piece line = source_line(find_source(in, m->group[1]), piece_number(m->group[2]));
    return has_word(line, PIECE("enum"));
}

static bool is_library(struct piece function)
{
    static const char *const roots[] = { "java.",
                                         "javax.",
                                         "jdk.",
                                         "sun.",
                                         "com.sun.",
                                         "jakarta.",
                                         "org.junit.",
                                         "org.apache.",
                                         "org.springframework.",
                                         "junit.",
                                         "org.opentest4j.",
                                         "org.hibernate.",
                                         "org.assertj.",
                                         "org.hamcrest.",
                                         "org.mockito.",
                                         "io.netty.",
                                         "kotlin.",
                                         "scala.",
                                         NULL };
    for (const char *const *r = roots; *r; r++)
        if (starts_with(function, *r))
            return true;
    return false;
}

/* Adds the frame of "pkg.Class.method" in File.java with the job's name of the file:
 * pkg/File.java. */
static void add_java_frame(const struct diagnose_input *in, struct diagnosis *d,
                           const struct match *m, bool library)
{
    struct piece function = m->group[0], file = m->group[1];
    char path[256];
    size_t parts = 0;
    (void)snprintf(path, sizeof path, "%.*s", P(file));
    for (size_t i = 0; i < function.len; i++)
        parts += piece_byte(function, i) == '.';
    if (parts > 1 && !library && !find_source(in, file)) {
        size_t n = 0, dots = 0;
        for (size_t i = 0; i < function.len && n + file.len + 2 < sizeof path; i++) {
            dots += piece_byte(function, i) == '.';
            if (dots == parts - 1)
                break;
            path[n++] = piece_byte(function, i) == '.' ? '/' : piece_byte(function, i);
        }
        (void)snprintf(path + n, sizeof path - n, "/%.*s", P(file));
    }
    size_t before = d->n_frames;
    add_frame(in, d, piece_of(path), m->group[2], NO_PIECE, function);
    if (library && d->n_frames > before)
        d->frames[d->n_frames - 1].user = false;
}

/* The frames of the exception: the job's first. */
static void read_calls(struct diagnoser *g, const struct diagnose_input *in, struct piece text,
                       struct diagnosis *d)
{
    for (int pass = 0; pass < 2; pass++) {
        unsigned asked = 0; /* each search reads its file from line 1 */
        struct piece rest = text, line;
        struct match m;
        while (next_line(&rest, &line) && !starts_with(line, "Caused by: "))
            if (match(g, "^\\s+at (?:[\\w.@]+/+)?([\\w.$<>]+)\\(([^:()]+\\.java):(\\d+)\\)", line,
                      &m) &&
                (is_library(m.group[0]) || is_of_enum(g, in, &m, &asked)) == (pass == 1))
                add_java_frame(in, d, &m, pass == 1);
    }
}

static void read_causes(struct diagnoser *g, const struct diagnose_input *in, struct piece rest,
                        struct diagnosis *d)
{
    struct piece line;
    struct match m;
    struct cause *c = NULL;
    while (next_line(&rest, &line)) {
        if (match(g, "^Caused by: ([\\w.$]+)(?:: (.*))?$", line, &m)) {
            c = add_cause(d);
            if (!c)
                return;
            COPY(m.group[0], c->type);
            COPY(m.group[1], c->message);
        } else if (c && c->at.line == 0 &&
                   match(g, "^\\s+at (?:[\\w.@]+/+)?([\\w.$<>]+)\\(([^:()]+\\.java):(\\d+)\\)",
                         line, &m) &&
                   !is_library(m.group[0])) {
            (void)set_place(in, &c->at, m.group[1], m.group[2], NO_PIECE);
        }
    }
}

/* "\tat Main.main(Main.java:3)", and "\t... 5 more". Copied text has blanks in place of the tab. */
static bool is_call(struct diagnoser *g, struct piece line)
{
    struct match m;
    return starts_with(line, "\t") ||
           match(g, "^ +(?:at [\\w.$@/<>]+\\(|\\.\\.\\. \\d+ (?:more|common))", line, &m);
}

static bool read_exception(struct diagnoser *g, const struct diagnose_input *in,
                           struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (match(g, "^Error: (.*(?:[Mm]ain class|[Mm]ain method).*)$", line, &m)) {
            COPY(m.group[0], d->message);
            return true;
        }
        bool uncaught = match(g, "^Exception in thread \".*?\" ([\\w.$]+)(?:: (.*))?$", line, &m);
        /* An exception that the program printed itself. */
        struct piece after = rest, next;
        if (!uncaught &&
            !(match(g, "^((?:[a-z]\\w*\\.)+[A-Z][\\w$]*(?:Exception|Error))(?:: (.*))?$", line,
                    &m) &&
              next_line(&after, &next) && is_call(g, next)))
            continue;
        COPY(m.group[0], d->type);
        COPY(m.group[1], d->message);
        for (after = rest; next_line(&after, &next) && !is_call(g, next) && n++ < 20;)
            if (!starts_with(next, "Caused by"))
                APPEND(d->message, "\n", next);
        read_calls(g, in, rest, d);
        read_causes(g, in, rest, d);
        locate_by_frames(d);
        return true;
    }
    return false;
}

/* An exception that only wraps another ("ExecutionException: java.lang.ArithmeticException: / by
 * zero"). The category and the suggestions are those of the inner one. */
struct wrapped {
    char type[sizeof((struct diagnosis *)NULL)->type],
        message[sizeof((struct diagnosis *)NULL)->message];
};

static bool unwrap(struct diagnosis *d, struct wrapped *ret)
{
    if (d->n_causes == 0 ||
        (d->message[0] && strncmp(d->message, d->causes[0].type, strlen(d->causes[0].type)) != 0))
        return false;
    const struct cause *root = &d->causes[d->n_causes - 1];
    COPY(piece_of(d->type), ret->type);
    COPY(piece_of(d->message), ret->message);
    COPY(piece_of(root->type), d->type);
    COPY(piece_of(root->message), d->message);
    if (root->at.line)
        d->location = root->at;
    return true;
}

static void wrap(struct diagnosis *d, const struct wrapped *w)
{
    COPY(piece_of(w->type), d->type);
    COPY(piece_of(w->message), d->message);
}

static bool read_java(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    bool found = (!in->compiling && read_exception(g, in, d)) || read_compiler(g, in, d);
    if (found && !classify(g, d, rules))
        d->category = d->type[0]         ? CATEGORY_RUNTIME
                      : d->location.line ? CATEGORY_TYPE /* neither syntax nor names */
                                         : CATEGORY_COMPILE;
    struct wrapped w;
    if (found && unwrap(d, &w)) {
        (void)classify(g, d, rules);
        wrap(d, &w);
    }
    /* An iterator throws it too, at its end. */
    if (d->category == CATEGORY_IO && piece_has(piece_of(d->type), "NoSuchElement") &&
        !piece_has(text_of(in), "java.util.Scanner"))
        d->category = CATEGORY_VALUE;
    return found;
}

static void advise_java(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct wrapped w;
    if (d->category == CATEGORY_SYNTAX && advise_fence(in, d))
        return;
    bool carried = unwrap(d, &w);
    advise_by(g, in, d, rules);
    if (carried)
        wrap(d, &w);
    struct match m;
    if (d->docs[0] ||
        !match(g, "^java\\.(?:lang|util|io|nio|net|time|math)\\.[\\w.]+$", piece_of(d->type), &m))
        return;
    char path[128];
    COPY(m.all, path);
    for (char *c = path; *c; c++)
        if (*c == '.')
            *c = '/';
    (void)snprintf(d->docs, sizeof d->docs,
                   "https://docs.oracle.com/en/java/javase/17/docs/api/java.base/%.120s.html",
                   path);
}

const struct grammar grammar_java = { .name = "java", .read = read_java, .advise = advise_java };

/* Rules for C and C++: names that are not declared or not defined, and missing headers. Runs in:
 * keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/gcc/gcc.h"
#include "diagnose/gcc_names.words.h" /* generated */

#define Q GCC_OPEN
#define E GCC_CLOSE

/* ---- names of the standard libraries ---- */

bool gcc_is_cpp(const struct advice *a)
{
    return strcmp(a->d->language, "cpp") == 0 || piece_has(piece_of(a->d->location.file), ".cpp") ||
           piece_has(piece_of(a->d->location.file), ".cc") ||
           piece_has(piece_of(a->d->location.file), ".hpp");
}

/* A file that includes it already lacks something else. */
static bool is_included(const struct advice *a, const char *header)
{
    struct piece rest = text_of_source(a->file), line;
    while (next_line(&rest, &line))
        if (starts_with(piece_trim(line), "#") && piece_has(line, header) &&
            piece_has(line, "include"))
            return true;
    return false;
}

static bool advise_include(const struct advice *a, struct piece name, const char *header)
{
    if (!header || is_included(a, header))
        return false;
    suggest(a->d, 37, 0.95, "`%.*s` is declared in <%s>: include it at the top of %s.", P(name),
            header, a->d->location.file[0] ? a->d->location.file : "the file");
    suggest_replacement(a->d, "#include <%s>", header);
    (void)snprintf(a->d->docs, sizeof a->d->docs, "https://en.cppreference.com/w/%s/header/%.*s",
                   gcc_is_cpp(a) ? "cpp" : "c", (int)strcspn(header, "."), header);
    return true;
}

/* gcc's own note: "'INT_MAX' is defined in header '<limits.h>'". */
static bool advise_noted_include(const struct advice *a, struct piece name)
{
    struct piece rest = text_of(a->in), line;
    struct match m;
    char header[80];
    while (next_line(&rest, &line)) {
        if (!piece_has(line, "is defined in header") ||
            !match(a->g, Q "(?:std::)?([\\w:]+)" E " is defined in header " Q "<([^>]+)>", line,
                   &m))
            continue;
        if (!piece_same(m.group[0], name))
            continue;
        COPY(m.group[1], header);
        return advise_include(a, name, header);
    }
    return false;
}

bool gcc_advise_meant(const struct advice *a, struct piece name)
{
    struct match m;
    char meant[128];
    if (!match(a->g, "did you mean " Q "(.+?)" E "\\?", a->message, &m))
        return false;
    COPY(m.group[0], meant);
    /* gcc offers names of its headers that are far away: ‘stdin’ for ‘string’. */
    struct similar near = { .name = name };
    similar_try(&near, m.group[0]);
    if (!near.best[0] && !piece_has(m.group[0], "::") &&
        !has_word(text_of_source(a->file), m.group[0]))
        return false;
    suggest(a->d, 37, 0.9, "Did you mean `%s`? Nothing here is called `%.*s`.", meant, P(name));
    (void)suggest_swap(a->in, a->d, name, meant);
    return true;
}

/* Declared above, in a block that has ended: that line is indented more. */
static bool advise_inner(const struct advice *a, struct piece name)
{
    const struct source_file *f = a->file;
    size_t indent = indent_of(a->line);
    struct match m;
    struct piece rest = text_of_source(f), line;
    for (uint32_t n = 1; n < a->d->location.line && n < LINES_SEEN && next_line(&rest, &line);
         n++) {
        bool loop = match(a->g, "\\bfor\\s*\\([^;:]*\\b\\w[\\w:<>]* \\**&?(\\w+)\\s*[=:]", line,
                          &m);
        if (loop && indent_of(line) >= indent && piece_same(m.group[0], name)) {
            suggest(a->d, 37, 0.85,
                    "`%.*s` belongs to the loop on line %u and ends with it: declare it before the "
                    "loop.",
                    P(name), n);
            return true;
        }
        if (indent_of(line) <= indent ||
            !match(a->g, "^\\s+(?:const |unsigned )*\\w[\\w:<>]* \\**&?(\\w+)\\s*(?:=|;|\\[)", line,
                   &m) ||
            !piece_same(m.group[0], name))
            continue;
        suggest(a->d, 37, 0.85,
                "`%.*s` is declared on line %u, inside a block that has ended: declare it before "
                "the block.",
                P(name), n);
        return true;
    }
    return false;
}

/* A member that a function outside of the class uses, when the function lacks the class's name. */
static bool advise_member_of(const struct advice *a, struct piece name)
{
    const struct source_file *f = a->file;
    struct piece rest = text_of_source(f), line, class = NO_PIECE, owner = NO_PIECE;
    struct match m;
    struct piece function = NO_PIECE;
    for (uint32_t n = 1; n < a->d->location.line && n < LINES_SEEN && next_line(&rest, &line);
         n++) {
        if (match(a->g, "^(?:class|struct) (\\w+)[^;]*$", line, &m))
            class = m.group[0];
        else if (starts_with(line, "}"))
            class = NO_PIECE;
        else if (class.at && has_word(line, name) && piece_has(line, ";"))
            owner = class;
        else if (!class.at && match(a->g, "^\\w[\\w:<>*& ]*[ *&](\\w+)\\(", line, &m))
            function = m.group[0];
    }
    if (!owner.at || !function.at || piece_is(function, "main"))
        return false;
    suggest(a->d, 37, 0.8,
            "`%.*s` is a member of `%.*s`: outside of the class, define the member function as "
            "`%.*s::%.*s`.",
            P(name), P(owner), P(owner), P(function));
    return true;
}

/* The name is not declared: a header is missing, or the name is misspelt. */
void gcc_advise_undeclared(const struct advice *a)
{
    struct piece name = a->m.group[0];
    bool std = piece_has(a->message, "member of") || piece_has(a->line, "std::");
    const char *header = gcc_is_cpp(a) && std ? word_with(std_homes, name) : NULL;
    if (!header && !(gcc_is_cpp(a) && std))
        header = word_with(c_homes, name);
    if (advise_noted_include(a, name) || advise_include(a, name, header) ||
        gcc_advise_meant(a, name))
        return;
    if (gcc_is_cpp(a) && word_with(std_homes, name)) {
        suggest(a->d, 37, 0.85, "`%.*s` is in the namespace std: write `std::%.*s`.", P(name),
                P(name));
        char full[128];
        (void)snprintf(full, sizeof full, "std::%.*s", P(name));
        (void)suggest_swap(a->in, a->d, name, full);
        return;
    }
    if (advise_inner(a, name) || (gcc_is_cpp(a) && advise_member_of(a, name)))
        return;
    char best[128];
    if (similar_name(a->in, name, c_keywords, best, sizeof best)) {
        suggest(a->d, 37, 0.8, "Did you mean `%s`? Nothing here is called `%.*s`.", best, P(name));
        (void)suggest_swap(a->in, a->d, name, best);
        return;
    }
    suggest(a->d, 37, 0.5,
            "Declare `%.*s` before it is used, or include the header that declares it.", P(name));
}

/* ---- the linker ---- */

static const char *library_of(struct piece symbol)
{
    for (size_t i = 0; libraries[i].word; i++)
        if (starts_with(symbol, libraries[i].word))
            return libraries[i].text;
    const char *header = word_with(c_homes, symbol);
    return header && strcmp(header, "math.h") == 0 ? "-lm" : NULL;
}

static uint32_t declared_at(const struct advice *a, struct piece name, char *file, size_t size)
{
    for (size_t i = 0; i < a->in->n_sources; i++) {
        uint32_t line = line_with_word(&a->in->sources[i], name, 1);
        copy_piece(piece_of(a->in->sources[i].name), file, size);
        if (line != 0 && !(line == a->d->location.line && strcmp(file, a->d->location.file) == 0))
            return line;
    }
    return 0;
}

static void advise_no_main(const struct advice *a)
{
    char best[128];
    struct similar n = { .name = PIECE("main") };
    similar_try_sources(&n, a->in);
    COPY(piece_of(n.best), best);
    if (best[0])
        suggest(a->d, 37, 0.85,
                "A program begins in a function `main`, and there is none: rename `%s` if it "
                "should be `main`.",
                best);
    else
        suggest(a->d, 37, 0.8,
                "A program begins in a function `main`, and there is none: add `int main(void) { "
                "... }`.");
}

/* Explains why a definition in one file is not visible in the others. */
static bool advise_hidden(const struct advice *a, struct piece symbol, struct piece name)
{
    for (size_t i = 0; i < a->in->n_sources; i++) {
        const struct source_file *f = &a->in->sources[i];
        struct piece rest = text_of_source(f), line;
        struct match m;
        for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++) {
            if (!has_word(line, name))
                continue;
            if (match(a->g, "^static .*\\(.*[^;]\\s*$", line, &m) &&
                strcmp(f->name, a->d->location.file) != 0) {
                suggest(a->d, 37, 0.9,
                        "`%.*s` is `static` on line %u of %s, so no other file sees it: remove the "
                        "`static`.",
                        P(name), n, f->name);
                return true;
            }
            if (piece_has(symbol, "<") && match(a->g, "\\w<\\w[\\w, ]*>::\\w", line, &m)) {
                suggest(a->d, 37, 0.9,
                        "`%.*s` is a member of a template, and its body is on line %u of %s, where "
                        "other files do not see it: move the bodies of templates into the header.",
                        P(name), n, f->name);
                return true;
            }
        }
    }
    return false;
}

/* A symbol that no function of the job can define: of a library, of the compiler, or a static
 * member. */
static bool advise_kind(const struct advice *a, struct piece symbol, struct piece name)
{
    const char *library = library_of(name);
    if (library) {
        suggest(a->d, 37, 0.9,
                "`%.*s` is in a library that must be linked: --compiler-arg %s on the command "
                "line, \"compiler_args\": [\"%s\"] in a request.",
                P(name), library, library);
        suggest_replacement(a->d, "%s", library);
        return true;
    }
    if (starts_with(name, "~")) {
        char whole[140], better[160];
        (void)snprintf(whole, sizeof whole, "%.*s()", P(piece_cut(name, 120)));
        (void)snprintf(better, sizeof better, "%s = default", whole);
        suggest(a->d, 37, 0.9,
                "The destructor `%.*s` is declared and has no body: write `= default` after it, or "
                "its body.",
                P(symbol));
        (void)suggest_swap(a->in, a->d, piece_of(whole), better);
        return true;
    }
    if (starts_with(symbol, "vtable for ")) {
        suggest(a->d, 37, 0.85,
                "`%.*s` has virtual functions without a body: define each of them, the destructor "
                "too, or write `= 0` after them (`= default` after a destructor).",
                P(piece_skip(symbol, 11)));
        return true;
    }
    if (starts_with(symbol, "std::")) {
        suggest(a->d, 37, 0.8, "This is C++: run it as cpp, whose compiler links the C++ library.");
        return true;
    }
    if (piece_has(symbol, "::") && !piece_has(symbol, "(")) {
        suggest(a->d, 37, 0.85,
                "The class or namespace only declares this variable: define it once outside, `int "
                "%.*s = 0;`, with its type (or declare it `inline static`).",
                P(symbol));
        return true;
    }
    return false;
}

void gcc_advise_undefined(const struct advice *a)
{
    struct piece symbol = a->m.group[0], name = gcc_plain_name(symbol);
    struct match hint;
    char text[200], file[256];
    if (piece_is(symbol, "main")) {
        advise_no_main(a);
        return;
    }
    if (advise_kind(a, symbol, name))
        return;
    if (match_text(a->g, "implicit declaration of function .*; did you mean " Q "(.+?)" E "\\?",
                   text_of(a->in), &hint)) {
        COPY(hint.group[0], text);
        suggest(a->d, 37, 0.9, "Did you mean `%s`? No file of the job defines `%.*s`.", text,
                P(name));
        (void)suggest_swap(a->in, a->d, name, text);
        return;
    }
    if (advise_hidden(a, symbol, name))
        return;
    uint32_t line = declared_at(a, name, file, sizeof file);
    if (line > 0) {
        if (a->d->location.line == 0) { /* no line uses it by name: a destructor */
            COPY(piece_of(file), a->d->location.file);
            a->d->location.line = line;
        }
        suggest(a->d, 37, 0.8,
                "`%.*s` is declared (%s, line %u), but no file of the job defines it: write its "
                "body, or add the file that defines it.",
                P(symbol), file, line);
        return;
    }
    suggest(a->d, 37, 0.6,
            "No file of the job defines `%.*s`: add the file that defines it, or link its library "
            "with --compiler-arg -lNAME.",
            P(symbol));
}

void gcc_advise_twice_defined(const struct advice *a)
{
    struct piece name = gcc_plain_name(a->m.group[0]);
    char files[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < a->in->n_sources && used < sizeof files - 40; i++) {
        uint32_t line = line_with_word(&a->in->sources[i], name, 1);
        if (line > 0)
            used += (size_t)snprintf(files + used, sizeof files - used, "%s%.60s line %u",
                                     used ? ", " : "", a->in->sources[i].name, line);
    }
    suggest(a->d, 0, 0.8,
            "`%.*s` is defined in more than one file%s%s%s: define it in one file, and write "
            "`extern` before it in the others (or `static`, for a separate one in each file).",
            P(name), files[0] ? " (" : "", files, files[0] ? ")" : "");
}

/* ---- headers ---- */

void gcc_advise_header(const struct advice *a)
{
    struct piece header = a->m.group[0];
    char best[256];
    if (similar_file(a->in, header, best, sizeof best)) {
        suggest(a->d, 37, 0.9, "Did you mean \"%s\"? The job has no file `%.*s`.", best, P(header));
        suggest_replacement(a->d, "#include \"%s\"", best);
        return;
    }
    if (!gcc_is_cpp(a) && text_for(std_homes, header)) {
        suggest(a->d, 37, 0.95, "<%.*s> is a header of C++: run it as cpp, and name the file .cpp.",
                P(header));
        return;
    }
    if (piece_is(header, "bits/stdc++.h")) {
        suggest(a->d, 37, 0.9, "<bits/stdc++.h> is for C++: run it as cpp.");
        return;
    }
    if (piece_among(header, not_linux)) {
        suggest(a->d, 37, 0.85,
                "<%.*s> belongs to another system, and programs here run on Linux: do without it.",
                P(header));
        return;
    }
    for (size_t i = 0; packages[i].word; i++)
        if (starts_with(header, packages[i].word)) {
            suggest(a->d, 37, 0.8,
                    "`%.*s` is neither a file of the job nor installed: on Debian it is in the "
                    "package %s, which must be installed on the host.",
                    P(header), packages[i].text);
            return;
        }
    suggest(a->d, 37, 0.7,
            "`%.*s` is neither a file of the job nor installed: send it with the job, or do "
            "without it.",
            P(header));
}

/* Rules for C and C++: errors of compilers. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/gcc/gcc.h"
#include "diagnose/gcc_advice.words.h" /* generated */

#define Q GCC_OPEN
#define E GCC_CLOSE

/* ---- syntax ---- */

static void advise_quote(const struct advice *a)
{
    char quote = piece_byte(a->m.group[0], 0);
    struct piece line = a->line;
    suggest(a->d, 0, 0.85,
            "The string that begins with %c on line %u is not closed: add another %c.", quote,
            a->d->location.line, quote);
    struct match end;
    if (match(a->g, "^(.*?)(\\);?\\s*|;\\s*)$", line, &end))
        suggest_replacement(a->d, "%.*s%c%.*s", P(end.group[0]), quote, P(end.group[1]));
}

static void advise_compare(const struct advice *a)
{
    struct piece line = a->line;
    struct match c;
    if (!match(a->g, "^(.*\\b(?:if|while|assert)\\s*\\(.*[^=!<>+*/%&|^-])=([^=].*)$", line, &c))
        return;
    suggest(a->d, 0, 0.85, "`=` assigns; to compare, write `==`.");
    suggest_replacement(a->d, "%.*s==%.*s", P(c.group[0]), P(c.group[1]));
}

enum { LINES_OF_IF = 24 };

static void advise_else(const struct advice *a)
{
    const struct source_file *f = a->file;
    struct match c;
    for (uint32_t line = a->d->location.line; line > 1 && line + LINES_OF_IF > a->d->location.line;
         line--) {
        struct piece text = source_line(f, line - 1);
        if (!match(a->g, "^(.*\\bif\\s*\\(.*\\))\\s*;\\s*(\\{?)\\s*$", text, &c) ||
            indent_of(text) > indent_of(a->line))
            continue;
        suggest(a->d, 0, 0.94,
                "The `;` behind the condition in line %u ends the `if`: remove it. `%.*s%s`",
                line - 1, P(c.group[0]), c.group[1].len ? " {" : "");
        return;
    }
    suggest(a->d, 0, 0.85,
            "An `else` follows one statement or one block in braces: put braces around the "
            "statements of the `if`, and no statement between its block and the `else`.");
}

/* for (int i = 0, i < 10, i++) */
static void advise_for(const struct advice *a)
{
    struct match c;
    if (match(a->g, "\\bfor\\s*\\(([^;]*),([^;]*),([^;]*)\\)", a->line, &c))
        suggest(a->d, 0, 0.9,
                "The three parts of a `for` are separated by `;`: `for (%.*s;%.*s;%.*s)`.",
                P(c.group[0]), P(c.group[1]), P(c.group[2]));
    else
        advise_semicolon(a);
}

/* ---- types and members ---- */

/* The compiler's text from the error to the next one: the notes in it are about this error. */
static struct piece notes_of(const struct advice *a)
{
    struct piece text = text_of(a->in);
    char first[200];
    COPY(piece_cut(a->message, sizeof first - 1), first);
    size_t at = piece_find(text, first);
    if (at == text.len)
        return text;
    struct piece rest = piece_skip(text, at + strlen(first));
    return piece_cut(rest, piece_find(rest, " error: "));
}

/* Names the line of a compiler's note: "main.c:3:12: note: declared here". */
static bool advise_noted(const struct advice *a, const char *pattern, double confidence,
                         const char *words)
{
    struct match m;
    struct place_in_code p;
    if (!match_text(a->g, pattern, notes_of(a), &m))
        return false;
    (void)set_place(a->in, &p, m.group[0], m.group[1], NO_PIECE);
    struct piece line = piece_trim(source_line(find_source(a->in, m.group[0]), p.line));
    if (!line.at)
        return false;
    suggest(a->d, 0, confidence, "%s line %u of %s: `%.*s`", words, p.line, p.file,
            P(piece_cut(line, 160)));
    return true;
}

#define NOTE "^([^\\s:][^:]*):(\\d+):\\d+: note: "

static void advise_declared(const struct advice *a)
{
    (void)(advise_noted(a, NOTE "declared here", 0.8, "Pass the arguments of its declaration,") ||
           advise_noted(a, NOTE "\\s*(?:initializing argument|candidate)", 0.7,
                        "Pass the arguments of its declaration,"));
}

/* A function that is called above its definition: C then takes it for one that returns an int. */
static bool advise_prototype(const struct advice *a)
{
    struct match n, f;
    if (!match_text(a->g, NOTE "previous implicit declaration of " Q "(\\w+)" E, notes_of(a), &n))
        return false;
    bool head = match(a->g, "^\\s*(\\w[^{};=]*\\))\\s*(?:\\{.*)?$", a->line, &f);
    suggest(a->d, 37, 0.94,
            "`%.*s` is called in line %u, above its definition, so the compiler takes it for a "
            "function that returns an int: write its prototype%s%.*s%s above the function of that "
            "line, or move the definition there.",
            P(n.group[2]), piece_number(n.group[1]), head ? ", `" : "",
            P(head ? piece_cut(f.group[0], 120) : NO_PIECE), head ? ";`," : "");
    return true;
}

static void advise_defined_before(const struct advice *a)
{
    struct match n;
    if (advise_prototype(a))
        return;
    if (match_text(a->g, NOTE ".*(?:previous|previously|first)", text_of(a->in), &n) &&
        piece_number(n.group[1]) == a->d->location.line &&
        piece_same(piece_base(n.group[0]), piece_base(piece_of(a->d->location.file))) &&
        match(a->g, "\\.(?:h|hh|hpp|hxx)$", piece_of(a->d->location.file), &(struct match){ 0 })) {
        suggest(a->d, 0, 0.9, "%s is included more than once: begin it with `#pragma once`.",
                a->d->location.file);
        suggest_replacement(a->d, "#pragma once");
        return;
    }
    if (match(a->g, "(?:redeclaration|redefinition) of " Q "(?:[^()]* )?[*&]*(\\w+)" E, a->message,
              &n) &&
        indent_of(a->line) > 0) {
        suggest(a->d, 33, 0.85,
                "`%.*s` is declared twice in this block: remove the type from the second line to "
                "give it "
                "a new value, or use another name.",
                P(n.group[0]));
        return;
    }
    if (match(a->g, "^conflicting|^static declaration", a->message, &n))
        (void)advise_noted(
            a, NOTE "previous ", 0.85,
            "The two declarations of the name differ: write both the same, or rename "
            "one. The other is on");
    else
        (void)advise_noted(a, NOTE ".*(?:previous|previously|first)", 0.8,
                           "Rename or remove one of the two; the other is on");
}

/* `string` in C++ is std::string. */
static void advise_string(const struct advice *a)
{
    if (gcc_is_cpp(a))
        gcc_advise_undeclared(a);
}

/* "std::max(int, size_type)" */
static void advise_two_types(const struct advice *a, struct piece one, struct piece other)
{
    struct match f;
    if (piece_has(other, "size_type") || piece_is(other, "long unsigned int"))
        other = PIECE("size_t");
    if (piece_has(one, "size_type") || piece_is(one, "long unsigned int"))
        one = PIECE("size_t");
    if (!match(a->g, "call to " Q "(?:std::)?(\\w+)", a->message, &f))
        return;
    suggest(a->d, 10, 0.92,
            "%.*s() takes arguments of one type, and these are %.*s and %.*s: convert one of them, "
            "static_cast<%.*s>(...), or name the type, %.*s<%.*s>(...).",
            P(f.group[0]), P(one), P(other), P(one), P(f.group[0]), P(one));
}

/* A call that fits no function: of a template, because two arguments have two types. */
static void advise_call(const struct advice *a)
{
    struct match m;
    if (match(
            a->g,
            "basic_string(?:<char>)?::basic_string\\((?:int|long|unsigned|float|double|const int)",
            a->message, &m)) {
        suggest(a->d, 11, 0.94,
                "A number is not converted to a string automatically: std::to_string(value) "
                "(<string>).");
        return;
    }
    if (match_text(a->g,
                   "deduced conflicting types for parameter " Q "(?:const )?\\w+" E " \\(" Q
                   "(.+?)" E " and " Q "(.+?)" E,
                   notes_of(a), &m))
        advise_two_types(a, m.group[0], m.group[1]);
    else
        advise_declared(a);
}

static void advise_pure(const struct advice *a)
{
    struct match n;
    struct piece class = a->m.group[0].at ? a->m.group[0] : a->m.group[1];
    if (!match_text(a->g, "note: +" Q "(virtual .+?)" E, text_of(a->in), &n))
        return;
    suggest(a->d, 0, 0.85, "`%.*s` must define `%.*s`: add the function.", P(class), P(n.group[0]));
}

static void advise_member(const struct advice *a)
{
    struct piece of = a->m.group[0], name = a->m.group[1];
    if (gcc_advise_meant(a, name))
        return;
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (piece_is(name, members[i].wrong) && piece_has(of, members[i].of) &&
            piece_has(of, "std::")) {
            suggest(a->d, 0, 0.85, "`%.*s` has no `%s`: use `%s`.", P(of), members[i].wrong,
                    members[i].right);
            (void)suggest_swap(a->in, a->d, name, members[i].right);
            return;
        }
    char best[128];
    if (!similar_name(a->in, name, NULL, best, sizeof best))
        best[0] = '\0';
    if (!best[0]) {
        suggest(a->d, 5, 0.75,
                "`%.*s` has no member `%.*s`: add it to its definition, or check the name.", P(of),
                P(name));
        return;
    }
    suggest(a->d, 0, 0.6, "Did you mean `%s`? `%.*s` has no `%.*s`.", best, P(of), P(name));
    (void)suggest_swap(a->in, a->d, name, best);
}

static void advise_convert(const struct advice *a)
{
    struct piece from = a->m.group[0], to = a->m.group[1];
    bool text = piece_has(from, "string") || piece_has(from, "char*") || piece_has(from, "char [");
    bool number = piece_is(to, "int") || piece_is(to, "long int") || piece_is(to, "double") ||
                  piece_is(to, "float") || piece_has(to, "unsigned");
    if (text && number && gcc_is_cpp(a))
        suggest(a->d, 0, 0.8,
                "A string is not converted to a number automatically: use std::%s(text) "
                "(<string>), or write the number without quotes.",
                piece_is(to, "double") || piece_is(to, "float") ? "stod" : "stoi");
    else if (piece_has(to, "string") && !text)
        suggest(a->d, 0, 0.75,
                "A number is not converted to a string automatically: use std::to_string(value) "
                "(<string>).");
    advise_declared(a);
}

/* "const Cell &" is Cell. */
static struct piece plain_type(const struct advice *a, struct piece type)
{
    struct match m;
    return match(a->g, "^(?:const )?(.*?)(?: ?const)?[ &]*$", type, &m) ? m.group[0] : type;
}

/* A library compares two values of the program's. */
static void advise_comparison(const struct advice *a, struct piece op, struct piece left,
                              struct piece right)
{
    bool own = false, order = piece_is(op, "<");
    struct source_lines s = { .in = a->in };
    struct match m;
    while (!own && next_source_line(&s))
        own = match(a->g, "\\b(?:struct|class)\\s+(\\w+)\\s*(?:final\\s*)?(?::|\\{|$)", s.line,
                    &m) &&
              has_word(left, m.group[0]) && !piece_has(left, "<");
    if (own)
        suggest(a->d, 0, 0.85,
                "%s, which `%.*s` does not have: define `bool operator%.*s(const %.*s &other) "
                "const` in it%s.",
                order ? "Sorting and keys need `<`" : "A search compares with `==`", P(left), P(op),
                P(right), order ? ", or pass a comparison as the last argument" : "");
    else
        suggest(a->d, 0, 0.75,
                "The library compares `%.*s` with `%.*s`, and there is no `%.*s` for them: pass a "
                "function that compares them, or use another type.",
                P(left), P(right), P(op));
}

/* "no match for 'operator<' (operand types are 'Student' and 'Student')" */
static void advise_operator(const struct advice *a)
{
    struct piece op = a->m.group[0], left = plain_type(a, a->m.group[1]),
                 right = plain_type(a, a->m.group[2]);
    bool own = a->d->n_frames > 0 && a->d->frames[0].user; /* the error is not inside a library */
    if (piece_is(op, "<<") && piece_has(left, "ostream"))
        suggest(a->d, 0, 0.85,
                "C++ does not know how to print a `%.*s`: print its members, or define "
                "`std::ostream &operator<<(std::ostream &out, const %.*s &value)`.",
                P(right), P(right));
    else if (piece_is(op, ">>") && piece_has(left, "istream"))
        suggest(a->d, 0, 0.85,
                "C++ does not know how to read a `%.*s`: read its members, or define `std::istream "
                "&operator>>(std::istream &in, %.*s &value)`.",
                P(right), P(right));
    else if (piece_is(op, "+") && (piece_has(left, "string") || piece_has(right, "string")))
        suggest(a->d, 0, 0.85,
                "A string can be joined only with a string: std::to_string(value) makes one of a "
                "number (<string>).");
    else if ((piece_is(op, "<") || piece_is(op, "==")) && !own)
        advise_comparison(a, op, left, right);
    else
        suggest(a->d, 0, 0.6,
                "There is no `%.*s` between `%.*s` and `%.*s`: convert one of them, call a "
                "function instead, or define `operator%.*s`.",
                P(op), P(left), P(right), P(op));
}

static void advise_unique(const struct advice *a)
{
    struct piece line = a->line;
    size_t from = a->d->location.column, to = a->d->location.end_column;
    suggest(a->d, 0, 0.85,
            "A std::unique_ptr has one owner and cannot be copied: pass it on with std::move "
            "(<utility>).");
    if (from > 0 && to > from && piece_at(line, to - 1) && piece_at(line, from) != '(')
        suggest_replacement(a->d, "%.*sstd::move(%.*s)%.*s", P(piece_before(line, from)),
                            P(piece_cut(piece_from(line, from), to - from)),
                            P(piece_from(line, to)));
}

/* ---- the rules ---- */

/* name = "text"; b = a; for arrays */
static void advise_array_assignment(const struct advice *a)
{
    struct match m;
    if (match(a->g, "([\\w.>\\[\\]-]+)\\s*=\\s*(\"[^\"]*\"|'[^']*')\\s*;", a->line, &m)) {
        suggest(a->d, 0, 0.94,
                "An array cannot be assigned: copy the text with strcpy(%.*s, %.*s) of <string.h>, "
                "or declare `const char *`.",
                P(m.group[0]), P(piece_cut(m.group[1], 60)));
        suggest_replacement(a->d, "%.*sstrcpy(%.*s, %.*s);%.*s",
                            P(piece_cut(a->line, piece_offset(a->line, m.all))), P(m.group[0]),
                            P(m.group[1]), P(piece_after(a->line, m.all)));
    } else if (match(a->g, "(\\w+)\\s*=\\s*(\\w+)\\s*;", a->line, &m)) {
        suggest(a->d, 0, 0.93,
                "An array cannot be assigned: copy it, memcpy(%.*s, %.*s, sizeof %.*s), or item by "
                "item in a loop.",
                P(m.group[0]), P(m.group[1]), P(m.group[0]));
    } else {
        suggest(a->d, 0, 0.9,
                "An array cannot be assigned: copy a text with strcpy(), other arrays with "
                "memcpy() or in a loop.");
    }
}

/* Point p; for `struct Point { ... };` in C */
static void advise_struct_word(const struct advice *a)
{
    struct match m;
    struct piece name = a->m.group[0].at ? a->m.group[0] : a->m.group[1];
    char full[140];
    (void)match(a->g, "use (?:['`\"]|\u2018)(\\w+)", a->message, &m);
    (void)snprintf(full, sizeof full, "%.*s %.*s", P(piece_cut(m.group[0], 20)),
                   P(piece_cut(name, 100)));
    suggest(a->d, 0, 0.94,
            "In C the type is `%s`, with the word: write that, or name it with typedef.", full);
    (void)suggest_swap(a->in, a->d, name, full);
}

/* #define SIZE 10; and #define SIZE = 10 */
static void advise_define(const struct advice *a)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (!match(a->g, "^\\s*#\\s*define\\s+(\\w+)\\s+(?:(=\\s*)(.*)|([^\\s;{}()]+)\\s*(;)\\s*)$",
                   line, &m) ||
            !has_word(a->line, m.group[0]))
            if (n != a->d->location.line ||
                !match(a->g,
                       "^\\s*#\\s*define\\s+(\\w+)\\s+(?:(=\\s*)(.*)|([^\\s;{}()]+)\\s*(;)\\s*)$",
                       line, &m))
                continue;
        bool equals = m.group[1].at != NULL;
        suggest(
            a->d, 0, 0.95,
            "#define replaces text, and line %u puts a `%s` into it: write `#define %.*s %.*s`.", n,
            equals ? "=" : ";", P(m.group[0]), P(piece_trim_end(equals ? m.group[2] : m.group[3])));
        return;
    }
    if (match(a->g, "expected \\W{1,3}([\\])])\\W{1,3} before", a->message, &m))
        suggest(a->d, 18, 0.85, "A bracket is not closed there: add `%.*s`.", P(m.group[0]));
    else
        advise_semicolon(a);
}

/* struct P { int width = 3; }; in C */
static void advise_member_value(const struct advice *a)
{
    if (!gcc_is_cpp(a) &&
        match(a->g, "struct\\b|^\\s+\\w[\\w ]*\\w+\\s*=\\s*[^;]+;", a->line, &(struct match){ 0 }))
        suggest(a->d, 0, 0.85,
                "In C a member of a struct has no value in the declaration: remove the `=`, and "
                "give the values where a variable is "
                "made, struct x v = { ... };");
}

/* The function of a base class that has the name, with another signature. */
static void advise_override(const struct advice *a)
{
    struct match m, f;
    struct piece rest = text_of_source(a->file), line;
    if (!match(a->g, "(\\w+)\\(([^()]*)\\)\\s*(const)?", a->message, &m))
        return;
    struct similar near = { .name = m.group[0] };
    while (next_line(&rest, &line)) {
        if (!match(a->g, "\\bvirtual\\s+.*?(\\w+)\\s*\\(([^()]*)\\)\\s*(const)?", line, &f))
            continue;
        if (piece_same(f.group[0], m.group[0])) {
            bool lacks = f.group[2].at && !m.group[2].at, more = !f.group[2].at && m.group[2].at;
            suggest(a->d, 0, 0.93,
                    "The base class declares `%.*s`: write this function the same%s.",
                    P(piece_cut(f.all, 120)),
                    lacks  ? ", with `const` after the brackets"
                    : more ? ", without `const` after the brackets"
                           : "");
            return;
        }
        similar_try(&near, f.group[0]);
    }
    if (near.best[0]) {
        suggest(a->d, 0, 0.92, "No base class has a virtual function `%.*s`: did you mean `%s`?",
                P(m.group[0]), near.best);
        (void)suggest_swap(a->in, a->d, m.group[0], near.best);
    }
}

#include "diagnose/gcc_advice.rules.h" /* generated */

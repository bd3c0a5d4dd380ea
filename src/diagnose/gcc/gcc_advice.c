/* C and C++: what is advised when it does not compile. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/gcc/gcc.h"

#define Q GCC_OPEN
#define E GCC_CLOSE

/* ---- syntax ---- */

static void advise_quote(const struct advice *a)
{
    char quote = a->m.group[0].at[0];
    struct piece line = a->line;
    suggest(a->d, 0, 0.85, "The text that begins with %c on line %u is not closed by another %c.",
            quote, a->d->location.line, quote);
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

static void advise_else(const struct advice *a)
{
    const struct source_file *f = a->file;
    struct match c;
    for (uint32_t line = a->d->location.line; line > 1 && line + 4 > a->d->location.line; line--) {
        struct piece text = source_line(f, line - 1);
        if (!match(a->g, "^(.*\\bif\\s*\\(.*\\))\\s*;\\s*$", text, &c))
            continue;
        suggest(a->d, 0, 0.9, "The `;` at the end of line %u ends the `if`: remove it. `%.*s`",
                line - 1, P(c.group[0]));
        return;
    }
    suggest(
        a->d, 0, 0.6,
        "An `else` follows one statement or one block in braces: put braces around the `if`'s.");
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

/* The line that a note of the compiler's points at: "main.c:3:12: note: declared here". */
static bool advise_noted(const struct advice *a, const char *pattern, double confidence,
                         const char *words)
{
    struct match m;
    struct place_in_code p;
    if (!match_text(a->g, pattern, text_of(a->in), &m))
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
    (void)(advise_noted(a, NOTE "declared here", 0.8, "Give it what its declaration asks for,") ||
           advise_noted(a, NOTE "\\s*(?:initializing argument|candidate)", 0.7,
                        "Give it what its declaration asks for,"));
}

static void advise_defined_before(const struct advice *a)
{
    struct match n;
    if (match_text(a->g, NOTE ".*(?:previous|previously|first)", text_of(a->in), &n) &&
        piece_number(n.group[1]) == a->d->location.line &&
        piece_same(piece_base(n.group[0]), piece_base(piece_of(a->d->location.file)))) {
        suggest(a->d, 0, 0.9,
                "%s is included more than once: begin it with `#pragma once`, so that it is read "
                "only the first time.",
                a->d->location.file);
        suggest_replacement(a->d, "#pragma once");
        return;
    }
    (void)advise_noted(a, NOTE ".*(?:previous|previously|first)", 0.8,
                       "Rename one of the two, or remove it; the other is on");
}

static void advise_pure(const struct advice *a)
{
    struct match n;
    struct piece class = a->m.group[0].at ? a->m.group[0] : a->m.group[1];
    if (!match_text(a->g, "note: +" Q "(virtual .+?)" E, text_of(a->in), &n))
        return;
    suggest(a->d, 0, 0.85, "`%.*s` does not define `%.*s`, which has to be there: define it.",
            P(class), P(n.group[0]));
}

static const struct {
    const char *wrong, *right, *of;
} members[] = {
    { "push", "push_back", "vector" },
    { "append", "push_back", "vector" },
    { "add", "push_back", "vector" },
    { "pop", "pop_back", "vector" },
    { "length", "size", "vector" },
    { "len", "size", "" },
    { "count", "size", "vector" },
    { "push", "push_back", "string" },
    { "add", "append", "string" },
    { "length", "size", "map" },
    { "length", "size", "set" },
    { "add", "insert", "set" },
    { "put", "insert", "map" },
    { "has", "count", "map" },
    { "has", "count", "set" },
    { "contains", "count", "map" },
    { "indexOf", "find", "string" },
    { "substring", "substr", "string" },
    { "charAt", "at", "string" },
    { "isEmpty", "empty", "" },
    { "push_front", "insert", "vector" },
    { "remove", "erase", "vector" },
};

static void advise_member(const struct advice *a)
{
    struct piece of = a->m.group[0], name = a->m.group[1];
    if (gcc_advise_meant(a, name))
        return;
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (piece_is(name, members[i].wrong) && piece_has(of, members[i].of) &&
            piece_has(of, "std::")) {
            suggest(a->d, 0, 0.85, "`%.*s` has no `%s`; what does that there is `%s`.", P(of),
                    members[i].wrong, members[i].right);
            (void)suggest_swap(a->in, a->d, name, members[i].right);
            return;
        }
    char best[128];
    if (!similar_name(a->in, name, NULL, best, sizeof best))
        return;
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
                "A text does not become a number by itself: std::%s(text) converts it (<string>), "
                "or write the number without quotes.",
                piece_is(to, "double") || piece_is(to, "float") ? "stod" : "stoi");
    else if (piece_has(to, "string") && !text)
        suggest(a->d, 0, 0.75, "std::to_string(value) makes a text of a number (<string>).");
    advise_declared(a);
}

/* "no match for 'operator<' (operand types are 'Student' and 'Student')" */
static void advise_operator(const struct advice *a)
{
    struct piece op = a->m.group[0], left = a->m.group[1], right = a->m.group[2];
    bool own = a->d->n_frames > 0 && a->d->frames[0].user; /* not somewhere in the library */
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
                "A text is joined to a text alone: std::to_string(value) makes one of a number "
                "(<string>).");
    else if (piece_is(op, "<") && !own)
        suggest(a->d, 0, 0.85,
                "What is sorted, or is a key, is compared with `<`, which `%.*s` does not have: "
                "define `bool operator<(const %.*s &other) const` in it, or give a comparison as "
                "the last argument.",
                P(left), P(left));
    else if (piece_is(op, "==") && !own)
        suggest(a->d, 0, 0.85,
                "What is searched for is compared with `==`, which `%.*s` does not have: define "
                "`bool operator==(const %.*s &other) const` in it.",
                P(left), P(left));
    else
        suggest(a->d, 0, 0.6,
                "There is no `%.*s` between `%.*s` and `%.*s`: convert one of them, call a "
                "function that does what is meant, or define `operator%.*s`.",
                P(a->m.group[0]), P(a->m.group[1]), P(a->m.group[2]), P(a->m.group[0]));
}

static void advise_unique(const struct advice *a)
{
    struct piece line = a->line;
    size_t from = a->d->location.column, to = a->d->location.end_column;
    suggest(a->d, 0, 0.85,
            "A std::unique_ptr cannot be copied, it has one owner: hand it over with std::move "
            "(<utility>).");
    if (from > 0 && to > from && piece_at(line, to - 1) && piece_at(line, from) != '(')
        suggest_replacement(a->d, "%.*sstd::move(%.*s)%.*s", P(piece_before(line, from)),
                            P(piece_cut(piece_from(line, from), to - from)),
                            P(piece_from(line, to)));
}

/* ---- what compilers say ---- */

const struct rule gcc_compile_rules[] = {
    ADVISE("^" LD_UNDEFINED ": .* to '(.+)'$", CATEGORY_COMPILE, 37, gcc_advise_undefined),
    ADVISE("^" LD_MULTIPLE ": .* of '(.+)'$", CATEGORY_COMPILE, 0, gcc_advise_twice_defined),
    SAY("cannot find -l(\\S+)", CATEGORY_COMPILE, 37, 0.8,
        "The library `{1}` is not installed here: leave -l{1} out, or have it installed."),
    SAY("unrecognized command-line option " Q "(.+?)" E, CATEGORY_COMPILE, 0, 0.8,
        "The compiler has no option `{1}`: leave it out of the compiler's arguments."),
    ADVISE("^(?:.*: )?((?!cannot )[^:]+): No such file or directory$", CATEGORY_IMPORT, 0,
           gcc_advise_header),
    SAY(Q "begin" E " was not declared in this scope", CATEGORY_TYPE, 0, 0.85,
        "`for (x : y)` goes over a container or an array, and this is neither: count with `for "
        "(int i = 0; i < n; i++)`."),
    ADVISE(Q "([\\w:]+)" E " (?:undeclared|was not declared in this scope|has not been declared)",
           CATEGORY_NAME, 37, gcc_advise_undeclared),
    ADVISE("unknown type name " Q "([\\w:]+)" E, CATEGORY_NAME, 37, gcc_advise_undeclared),
    ADVISE(Q "(\\w+)" E " (?:does not name a type|is not a member of)", CATEGORY_NAME, 37,
           gcc_advise_undeclared),
    ADVISE("(?:implicit declaration of function|use of undeclared identifier) " Q "(\\w+)" E,
           CATEGORY_NAME, 37, gcc_advise_undeclared),
    ADVISE(Q "(\\w+)" E " is not a class, namespace", CATEGORY_NAME, 37, gcc_advise_undeclared),
    ADVISE(Q "([^']+?)" E " has no member named " Q "(\\w+)" E, CATEGORY_NAME, 0, advise_member),
    ADVISE("expected " Q "=" E ".*before " Q "[<>]|expected " Q ";" E " before " Q "\\)",
           CATEGORY_SYNTAX, 0, advise_for),
    ADVISE("expected .*" Q ";" E ".* (?:after|before|at end)", CATEGORY_SYNTAX, 0,
           advise_semicolon),
    SAY("stray " Q "`" E, CATEGORY_SYNTAX, 20, 0.7,
        "A backquote is no part of C: is it left from Markdown, or from another language?"),
    ADVISE("expected (?:identifier|unqualified-id|declaration).* before " Q
           "?(?:return|if|for|while|do|switch|else|\\}|<<)\\b?",
           CATEGORY_SYNTAX, 0, advise_outside),
    ADVISE("at end of input|expected " Q "\\}" E, CATEGORY_SYNTAX, 0, advise_brace),
    SAY("expected " Q "\\)" E " before " Q "(.+?)" E, CATEGORY_SYNTAX, 0, 0.75,
        "A `(` before the `{1}` is not closed: add `)`."),
    ADVISE("missing terminating (['\"]) character", CATEGORY_SYNTAX, 0, advise_quote),
    ADVISE("lvalue required as left operand", CATEGORY_SYNTAX, 0, advise_compare),
    ADVISE(Q "else" E " without a previous " Q "if" E, CATEGORY_SYNTAX, 0, advise_else),
    SAY("stray|extended character|is not valid in an identifier", CATEGORY_SYNTAX, 0, 0.7,
        "A character there is no part of the language: typographic quotes, dashes and invisible "
        "spaces come from copied text; write plain ones."),
    IS("expected |break statement not within|continue statement not within|case label not within|"
       "duplicate case|case label .* not|unterminated|invalid suffix|#(?:if|else|endif|error)|"
       "two or more data types|return-statement with|label .* not defined|a function-definition is "
       "not allowed",
       CATEGORY_SYNTAX),
    ADVISE("too (few|many) arguments to (?:function|\\w+)", CATEGORY_TYPE, 0, advise_declared),
    SAY("(?:assignment|increment|decrement) of (?:read-only|member) .*?" Q "([\\w:]+)" E
        " in read-only",
        CATEGORY_TYPE, 0, 0.8,
        "The function is `const`, so it may not change `{1}`: remove the `const` after its "
        "brackets, or declare the member `mutable`."),
    SAY("(?:assignment|increment|decrement) of read-only \\w+ " Q "(.+?)" E, CATEGORY_TYPE, 0, 0.85,
        "`{1}` is declared `const`: remove the `const`, or assign to another variable."),
    SAY(Q "(.+?)" E " is (private|protected) within this context", CATEGORY_TYPE, 0, 0.8,
        "`{1}` is {2}: use a public member function of the class, or declare it under `public:`."),
    ADVISE("to be of abstract type " Q "(.+?)" E "|invalid new-expression of abstract class type " Q
           "(.+?)" E,
           CATEGORY_TYPE, 0, advise_pure),
    SAY(Q "(.+?)" E " is a pointer; did you mean to use", CATEGORY_TYPE, 0, 0.9,
        "`{1}` is a pointer: its members are reached with `->`."),
    SAY("incomplete type " Q "(.+?)" E, CATEGORY_TYPE, 0, 0.8,
        "Only the name of `{1}` is known there: its definition, with its members, has to stand (or "
        "be included) before."),
    SAY(Q "(\\w+)" E " is not captured", CATEGORY_NAME, 0, 0.9,
        "The lambda does not see `{1}`: name it in its square brackets, `[{1}]` for a copy or "
        "`[&{1}]` for the variable itself."),
    SAY("passing " Q "const (.+?)" E " as " Q "this" E " argument discards", CATEGORY_TYPE, 0, 0.85,
        "The object is `const` here, and the function it calls may change it: leave out the "
        "`const` where the object is declared, or write `const` after the function's brackets "
        "where it is defined."),
    SAY("use of deleted function .*std::hash<(.+?) ?>[;\\]]", CATEGORY_TYPE, 0, 0.85,
        "There is no hash of `{1}` for unordered containers: use std::map or std::set, which "
        "compare, or give the container a hash function of its own."),
    ADVISE("use of deleted function .*unique_ptr", CATEGORY_TYPE, 0, advise_unique),
    SAY("use of deleted function " Q "(?:std::)?(\\w+)(?:<.*>)?(?:& \\w+)?::.*\\(const ",
        CATEGORY_TYPE, 0, 0.75,
        "A `{1}` cannot be copied: pass it by reference (`{1} &`), or hand it over with "
        "std::move."),
    ADVISE("(?:cannot convert|conversion from) " Q "(.+?)" E ".*? to " Q "(.+?)" E, CATEGORY_TYPE,
           0, advise_convert),
    ADVISE("invalid conversion from " Q "(.+?)" E " to " Q "(.+?)" E, CATEGORY_TYPE, 0,
           advise_convert),
    ADVISE(
        "conflicting (?:types|declaration)|redefinition of|redeclar|previously declared|cannot be "
        "overloaded",
        CATEGORY_TYPE, 0, advise_defined_before),
    ADVISE("no match for " Q "operator(\\W+?)" E " \\(operand types are " Q "(.+?)" E ".*? and " Q
           "(.+?)" E,
           CATEGORY_TYPE, 0, advise_operator),
    ADVISE("no matching function for call to|no match for", CATEGORY_TYPE, 0, advise_declared),
    SAY("marked " Q "override" E, CATEGORY_TYPE, 0, 0.85,
        "No virtual function of the base class has this signature: compare the parameters and the "
        "`const` after the brackets."),
    SAY("forbids declaration of " Q "(.+?)" E " with no type", CATEGORY_SYNTAX, 0, 0.85,
        "`{1}` has no type: write what it returns before it, as in `int {1}`."),
    SAY("void value not ignored", CATEGORY_TYPE, 0, 0.8,
        "That function returns nothing (`void`): have it return a value, or call it by itself."),
    SAY("subscripted value is neither", CATEGORY_TYPE, 0, 0.7,
        "Only arrays and pointers have elements: this is neither."),
    SAY("called object .* is not a function", CATEGORY_TYPE, 0, 0.7,
        "What stands before the brackets is no function: is an operator missing, or has a variable "
        "the function's name?"),
    SAY("invalid type argument of|base operand of " Q "->" E, CATEGORY_TYPE, 0, 0.7,
        "`*` and `->` are for pointers, and this is none: use `.` for members."),
    IS("incompatible|invalid operands|makes (?:integer|pointer)|cannot bind|invalid use of|request "
       "for member|"
       "deleted function|dereferencing|invalid initiali|discards|incomplete "
       "type|read-only|-W(?:error=)?"
       "(?:int-conversion|format)|too many initializers|storage size|narrowing|template|deduc|does "
       "not have|"
       "wrong type argument|array type|returning|cannot be",
       CATEGORY_TYPE),
    END_OF_RULES,
};

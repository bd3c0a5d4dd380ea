/* Rules for TypeScript: advice by the types that the program declares. Runs in: keeper. */
#include "diagnose/typescript/typescript.h"

#include <stdio.h>
#include <string.h>

#include "diagnose/typescript_types.words.h" /* generated */

enum {
    LINES_OF_SWITCH = 60, /* lines of a switch, above or below the location */
    CASES = 24,
    LIST = 200, /* bytes of a list of names in a suggestion */
};

/* ---- promises ---- */

void ts_suggest_await(const struct advice *a)
{
    struct piece word = ts_word_here(a), value = NO_PIECE;
    struct match m;
    uint32_t line = a->d->location.line;
    struct js_origin from;
    if (match(a->g, "([A-Za-z_$][\\w$]*)\\.$", piece_before(a->line, a->d->location.column), &m))
        word = m.group[0]; /* the mark is at the property */
    if (word.at && js_declared_by(a, word, &from) && piece_is(from.by, "of")) {
        suggest(a->d, 26, 0.93,
                "'%.*s' is a promise, one of the list '%.*s': wait for each, (await %.*s), or for "
                "all of them, await "
                "Promise.all(%.*s).",
                P(word), P(from.from), P(word), P(from.from));
        return;
    }
    if (word.at && js_assigned(a, word, &value, &line) && line != a->d->location.line &&
        match(a->g, "^([\\w$.]+)\\(", value, &m)) {
        suggest(a->d, 26, 0.95,
                "'%.*s' is a promise: put `await` before the call in line %u, await %.*s(...).",
                P(word), line, P(m.group[0]));
        return;
    }
    if (word.at && match(a->g, "^\\s*\\(", piece_after(a->line, word), &m))
        suggest(a->d, 26, 0.94,
                "%.*s() returns a promise: put `await` before the call, await %.*s(...).", P(word),
                P(word));
    else if (match(a->g, "=\\s*([\\w$.]+)\\(", a->line, &m))
        suggest(a->d, 26, 0.94,
                "%.*s() returns a promise: put `await` before the call, await %.*s(...).",
                P(m.group[0]), P(m.group[0]));
    else
        suggest(a->d, 26, 0.93, "The value is a promise: put `await` before it.");
}

/* ---- declarations ---- */

/* The text of `type NAME = ...` or `interface NAME { ... }` or `enum NAME { ... }`, up to its end. */
static struct piece declaration(const struct advice *a, struct piece name, uint32_t *ret_line)
{
    struct piece whole = text_of_source(a->file), rest = whole, line;
    struct match m;
    for (uint32_t n = 1; name.at && n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (!match(a->g, "\\b(type|interface|enum|class)\\s+([\\w$]+)", line, &m) ||
            !piece_same(m.group[1], name))
            continue;
        struct piece text = piece_after(whole, m.all);
        bool alias = piece_is(m.group[0], "type");
        long depth = 0;
        *ret_line = n;
        for (size_t i = 0; i < text.len && i < LINE_SEEN; i++) {
            char c = piece_byte(text, i);
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
            if (depth == 0 && ((!alias && c == '}') || (alias && c == ';')))
                return piece_cut(text, i + 1);
        }
        return piece_cut(text, LINE_SEEN);
    }
    return NO_PIECE;
}

bool ts_near_member(const struct advice *a, struct piece type, struct piece name, char *out,
                    size_t size)
{
    uint32_t line = 0;
    struct piece text = declaration(a, type, &line), whole = text;
    struct similar near = { .name = name };
    struct match m;
    while (text.len > 0 && match(a->g, "([A-Za-z_$][\\w$]*)\\s*\\??\\s*[:(]", text, &m)) {
        similar_try(&near, m.group[0]);
        text = piece_after(whole, m.all);
    }
    (void)snprintf(out, size, "%s", near.best);
    return near.best[0] != '\0';
}

/* ---- enums ---- */

/* Each member of an enum, one after the other. */
static bool next_member(const struct advice *a, struct piece whole, struct piece *rest,
                        struct piece *ret_name, struct piece *ret_value)
{
    struct match m;
    if (rest->len == 0 ||
        !match(a->g, "([A-Za-z_]\\w*)\\s*(?:=\\s*(?:[\"']([^\"']*)[\"']|[^,}]*?))?\\s*(?=[,}])",
               *rest, &m))
        return false;
    *ret_name = m.group[0];
    *ret_value = m.group[1];
    *rest = piece_after(whole, m.all);
    return true;
}

static bool same_letters(struct piece a, struct piece b)
{
    bool same = a.len == b.len;
    for (size_t i = 0; same && i < a.len; i++)
        same = (piece_byte(a, i) | 32) == (piece_byte(b, i) | 32);
    return same;
}

bool ts_enum_member(const struct advice *a, struct piece from, struct piece to)
{
    uint32_t line = 0;
    struct piece text = declaration(a, to, &line), rest = text, name, value, found = NO_PIECE,
                 any = NO_PIECE;
    struct match m;
    if (!text.at || !match(a->g, "\\benum\\b", source_line(a->file, line), &m))
        return false;
    struct piece plain = from.len > 2 && piece_byte(from, 0) == '"'
                             ? piece_part(from, 1, from.len - 2)
                             : NO_PIECE;
    while (next_member(a, text, &rest, &name, &value)) {
        any = any.at ? any : name;
        if (plain.at && (piece_same(value, plain) || (!found.at && same_letters(name, plain))))
            found = name;
    }
    if (found.at) {
        char quoted[140], member[140];
        suggest(a->d, 11, 0.95,
                "%.*s is an enum (line %u), and a text is no member of it: write %.*s.%.*s.", P(to),
                line, P(to), P(found));
        (void)snprintf(member, sizeof member, "%.*s.%.*s", P(piece_cut(to, 60)),
                       P(piece_cut(found, 60)));
        (void)snprintf(quoted, sizeof quoted, "%.*s", P(piece_cut(from, 120)));
        (void)suggest_swap(a->in, a->d, piece_of(quoted), member);
    } else if (plain.at) {
        suggest(a->d, 11, 0.9,
                "%.*s is an enum (line %u) without a member for %.*s: write one of its members, "
                "such as "
                "%.*s.%.*s.",
                P(to), line, P(from), P(to), P(any));
    } else {
        suggest(a->d, 11, 0.9,
                "%.*s is an enum (line %u), and the value is a %.*s: write a member, %.*s.%.*s, or "
                "`as %.*s` where the "
                "text is known to be one.",
                P(to), line, P(from), P(to), P(any), P(to));
    }
    return true;
}

/* ---- a switch that lacks a case ---- */

struct cases {
    struct piece subject; /* of switch (subject) */
    struct piece value[CASES];
    size_t n;
};

static void read_cases(const struct advice *a, uint32_t from, uint32_t to, struct cases *ret)
{
    struct match m;
    for (uint32_t n = from; n <= to; n++) {
        struct piece line = source_line(a->file, n), whole = line;
        while (line.len > 0 && match(a->g, "\\bcase\\s+([^:]+?)\\s*:", line, &m)) {
            if (ret->n < CASES)
                ret->value[ret->n++] = m.group[0];
            line = piece_after(whole, m.all);
        }
    }
}

static bool find_switch(const struct advice *a, struct cases *ret)
{
    struct match m;
    uint32_t here = a->d->location.line;
    for (uint32_t n = here; n > 0 && here - n < LINES_OF_SWITCH; n--)
        if (match(a->g, "\\bswitch\\s*\\(\\s*([\\w$.]+)\\s*\\)", source_line(a->file, n), &m)) {
            ret->subject = m.group[0];
            read_cases(a, n, here, ret);
            return ret->n > 0;
        }
    return false;
}

static bool is_case(const struct cases *c, struct piece text)
{
    for (size_t i = 0; i < c->n; i++) {
        struct piece v = c->value[i];
        bool quoted = v.len > 2 && (piece_byte(v, 0) == '"' || piece_byte(v, 0) == '\'');
        struct piece plain = quoted ? piece_part(v, 1, v.len - 2) : piece_last_part(v);
        if (piece_same(plain, text))
            return true;
    }
    return false;
}

static void suggest_cases(const struct advice *a, const char *missing, bool many)
{
    suggest(a->d, 10, 0.94,
            "The switch does not handle %s: add the missing case%s before `default`, and the value "
            "becomes never.",
            missing, many ? "s" : "");
}

/* The texts of a union that no case has: `type Level = "low" | "high"`. */
static bool missing_texts(const struct advice *a, struct piece union_text, const struct cases *c)
{
    char list[LIST] = "";
    struct piece rest = union_text;
    struct match m;
    unsigned missing = 0, known = 0;
    while (rest.len > 0 && match(a->g, "[\"']([^\"']+)[\"']", rest, &m)) {
        if (is_case(c, m.group[0])) {
            known++;
        } else {
            missing++;
            append_text(list, sizeof list, list[0] ? ", case \"" : "case \"", m.group[0]);
            append_text(list, sizeof list, "", PIECE("\""));
        }
        rest = piece_after(union_text, m.all);
    }
    if (!missing || !known)
        return false;
    suggest_cases(a, list, missing > 1);
    return true;
}

static bool missing_members(const struct advice *a, struct piece type, const struct cases *c)
{
    uint32_t line = 0;
    char list[LIST] = "";
    struct piece text = declaration(a, type, &line), rest = text, name, value;
    unsigned missing = 0;
    struct match m;
    if (!text.at || !match(a->g, "\\benum\\b", source_line(a->file, line), &m))
        return false;
    while (next_member(a, text, &rest, &name, &value))
        if (!is_case(c, name)) {
            missing++;
            append_text(list, sizeof list, list[0] ? ", case " : "case ", type);
            append_text(list, sizeof list, ".", name);
        }
    if (!missing)
        return false;
    suggest_cases(a, list, missing > 1);
    return true;
}

/* The tag in `{ kind: "triangle"; ... }`, or in the declaration of a type with that name. */
static bool missing_tag(const struct advice *a, struct piece type, struct piece tag,
                        struct cases *c)
{
    struct match m;
    uint32_t line = 0;
    struct piece whole = type;
    if (piece_byte(type, 0) != '{')
        whole = declaration(a, piece_cut(type, piece_find(type, " ")), &line);
    struct piece rest = whole;
    while (rest.at && rest.len > 0 &&
           match(a->g, "\\b([\\w$]+)\\??:\\s*[\"']([^\"']+)[\"']", rest, &m)) {
        if (piece_same(m.group[0], tag) && !is_case(c, m.group[1])) {
            char list[LIST];
            (void)snprintf(list, sizeof list, "case \"%.*s\"", P(piece_cut(m.group[1], 80)));
            suggest_cases(a, list, false);
            return true;
        }
        rest = piece_after(whole, m.all);
    }
    return false;
}

bool ts_missing_case(const struct advice *a, struct piece from)
{
    struct cases c = { 0 };
    struct match m;
    if (!find_switch(a, &c))
        return false;
    struct piece tag = piece_last_part(c.subject),
                 enumeration = piece_cut(from, piece_find(from, "."));
    if (tag.len < c.subject.len && missing_tag(a, from, tag, &c))
        return true;
    if (missing_members(a, enumeration, &c))
        return true;
    if (starts_with(from, "\"") && missing_texts(a, from, &c))
        return true;
    struct piece rest = text_of_source(a->file), line;
    while (next_line(&rest, &line))
        if (match(a->g, "\\btype\\s+\\w+\\s*=\\s*(.*)", line, &m) &&
            missing_texts(a, m.group[0], &c))
            return true;
    return false;
}

/* ---- type parameters ---- */

bool ts_type_parameter(const struct advice *a, struct piece type, struct piece property)
{
    struct match m;
    if (!match(a->g, "^(?:[A-Z]|T[A-Z]\\w*)$", type, &m))
        return false;
    const char *base = text_for(types_with, property);
    char constraint[160], now[200], old[40];
    if (base)
        (void)snprintf(constraint, sizeof constraint, "%s", base);
    else
        (void)snprintf(constraint, sizeof constraint, "{ %.*s: %s }", P(piece_cut(property, 60)),
                       text_for(property_types, property) ? text_for(property_types, property)
                                                          : "unknown");
    for (uint32_t n = a->d->location.line; n > 0 && a->d->location.line - n < LINES_OF_SWITCH;
         n--) {
        struct piece line = source_line(a->file, n);
        if (!match(a->g, "<([^<>]*)>", line, &m) || !has_word(m.group[0], type) ||
            piece_has(m.group[0], "extends"))
            continue;
        suggest(a->d, 10, 0.94,
                "'%.*s' stands for any type, so not every '%.*s' has '%.*s': constrain it in line "
                "%u, <%.*s extends %s>.",
                P(type), P(type), P(property), n, P(type), constraint);
        (void)snprintf(old, sizeof old, "<%.*s>", P(piece_cut(type, 30)));
        (void)snprintf(now, sizeof now, "<%.*s extends %s>", P(piece_cut(type, 30)), constraint);
        size_t at = piece_find(line, old);
        if (at < line.len && !piece_is(piece_of(constraint + strlen(constraint) - 9), "unknown }"))
            suggest_replacement(a->d, "%.*s%s%.*s", P(piece_cut(line, at)), now,
                                P(piece_skip(line, at + strlen(old))));
        return true;
    }
    return false;
}

/* ---- kinds that do not fit ---- */

/* Lists, and values of which nothing is known. */
static bool is_other_list(const struct advice *a, struct piece from, struct piece to)
{
    struct match m;
    char list[140];
    (void)snprintf(list, sizeof list, "%.*s[]", P(piece_cut(to, 120)));
    if (piece_is(from, "unknown"))
        suggest(a->d, 12, 0.92,
                "The type of the value is not known: test it first, typeof x === \"%.*s\", or "
                "declare its type "
                "with `as %.*s`.",
                P(to), P(to));
    else if (piece_is(to, "never") && match_text(a->g, "(?:=|\\()\\s*\\[\\]|,\\s*\\[\\]\\s*\\)",
                                                 text_of_source(a->file), &m))
        suggest(a->d, 10, 0.92,
                "An empty list `[]` without a type takes no values (never[]): declare its type, "
                "items: %.*s[] = [], or [] as "
                "%.*s[].",
                P(from), P(from));
    else if (starts_with(from, "readonly ") && ends_with(to, "[]"))
        suggest(a->d, 33, 0.93,
                "The list is readonly, and the function may change its parameter: declare the "
                "parameter as %.*s, or pass a "
                "copy, [...x].",
                P(from));
    else if (piece_is(from, "void"))
        suggest(a->d, 4, 0.9, "The call returns nothing (void)%s: let the function return a value.",
                piece_has(a->line, ".forEach(") ? ", and forEach() always does: use map()" : "");
    else if (piece_is(to, "void"))
        suggest(a->d, 4, 0.9,
                "The function is declared to return nothing (void): declare it as %.*s, or remove "
                "the value "
                "behind `return`.",
                P(from));
    else if (piece_is(from, list))
        suggest(a->d, 11, 0.92,
                "The value is a list, and one %.*s is needed: take one item, x[0], or declare the "
                "type as %.*s.",
                P(to), P(from));
    else if (ends_with(to, "[]") && piece_same(piece_cut(to, to.len - 2), from))
        suggest(a->d, 11, 0.93,
                "A list is needed, and the value is one %.*s: put it in brackets, [x].", P(from));
    else if (ends_with(from, "[]") && ends_with(to, "[]"))
        suggest(a->d, 11, 0.9,
                "A list of %.*s is needed, and this is a list of %.*s: convert each item with "
                "map(), or declare "
                "the list as %.*s.",
                P(piece_cut(to, to.len - 2)), P(piece_cut(from, from.len - 2)), P(from));
    else
        return false;
    return true;
}

bool ts_other_kind(const struct advice *a, struct piece from, struct piece to)
{
    struct match m, u;
    uint32_t line = 0;
    if (is_other_list(a, from, to))
        return true;
    if (match(a->g, "\\|", from, &u) && piece_has(from, "string") &&
        !piece_has(from, "undefined") && !piece_has(from, "{"))
        suggest(a->d, 12, 0.9,
                "The value may be %.*s, and '%.*s' is needed: test it with typeof first, or "
                "convert it.",
                P(from), P(to));
    else if (piece_is(from, "string") && declaration(a, to, &line).at &&
             match(a->g, "=\\s*\\|?\\s*[\"']", source_line(a->file, line), &m))
        suggest(a->d, 11, 0.9,
                "'%.*s' allows certain texts alone (line %u), and the value is any string: declare "
                "the variable as %.*s, or its "
                "value `as const`.",
                P(to), line, P(to));
    else if (match(a->g, "^Partial<", from, &m))
        suggest(a->d, 28, 0.9,
                "The properties of %.*s may be missing, and %.*s needs all: give the missing ones, "
                "{ ...defaults, "
                "...x }.",
                P(from), P(to));
    else if (piece_is(to, "boolean"))
        suggest(a->d, 11, 0.9,
                "The value is a %.*s, and true or false is needed: compare it (x > 0, x === "
                "\"yes\"), or declare "
                "the type as %.*s.",
                P(from), P(from));
    else if (piece_is(from, "String") || piece_is(from, "Number") || piece_is(from, "Boolean"))
        suggest(a->d, 11, 0.95, "The type has a small letter: %s, not %.*s.",
                piece_is(from, "String")   ? "string"
                : piece_is(from, "Number") ? "number"
                                           : "boolean",
                P(from));
    else if (starts_with(to, "keyof "))
        suggest(a->d, 8, 0.92,
                "%.*s is no key of %.*s: use one that the type declares, or add it there.", P(from),
                P(piece_skip(to, 6)));
    else if (starts_with(to, "[") && starts_with(from, "["))
        suggest(a->d, 10, 0.9,
                "The tuple must be %.*s, and the value is %.*s: give exactly these items, or "
                "declare a list, T[].",
                P(to), P(from));
    else
        return false;
    return true;
}

/* ---- tuples ---- */

bool ts_other_length(const struct advice *a, struct piece to)
{
    struct match m, alias;
    uint32_t line = 0;
    if (!match_text(
            a->g,
            "^\\s+Source has (\\d+) element\\(s\\) but target (?:allows only|requires) (\\d+)",
            text_of(a->in), &m))
        return false;
    struct piece text = declaration(a, to, &line), type = to;
    if (text.at && match(a->g, "^\\s*=\\s*([^;]*)", text, &alias))
        type = alias.group[0];
    if (!starts_with(type, "[") || !starts_with(a->m.group[0], "["))
        return false; /* the words are of another error */
    char at[40] = "";
    if (line)
        (void)snprintf(at, sizeof at, " (line %u)", line);
    bool more = piece_number(m.group[0]) > piece_number(m.group[1]);
    suggest(
        a->d, 10, 0.94,
        "%.*s is a tuple of %.*s items, %.*s%s, and this value has %.*s: %s, or give the type %s.",
        P(to), P(m.group[1]), P(piece_cut(type, 80)), at, P(m.group[0]),
        more ? "remove the extra item" : "add the missing item",
        more ? "another item, optional with `?`" : "fewer items, or `?` behind the optional ones");
    return true;
}

/* The parameters of a function that the file declares, and their types as a tuple; 0 when it is not known. */
static unsigned parameters_of(const struct advice *a, struct piece function, char *tuple,
                              size_t size)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m, p;
    unsigned n = 0;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (!match(a->g, "\\bfunction\\s+([\\w$]+)\\s*\\(([^()]*)\\)", line, &m) ||
            !piece_same(m.group[0], function))
            continue;
        struct piece whole = m.group[1], left = whole;
        while (left.len > 0 && match(a->g, "[\\w$]+\\??\\s*:\\s*([^,=]+)", left, &p)) {
            append_text(tuple, size, n++ ? ", " : "[", piece_trim(p.group[0]));
            left = piece_after(whole, p.all);
        }
        append_text(tuple, size, "", PIECE("]"));
        return n;
    }
    return 0;
}

void ts_spread(const struct advice *a)
{
    struct match m, call;
    struct piece value;
    uint32_t line = 0;
    if (!match(a->g, "([\\w$]+)\\(\\s*\\.\\.\\.([\\w$]+)\\s*\\)", a->line, &m))
        return;
    struct piece function = m.group[0], list = m.group[1];
    char takes[60] = "a certain number of arguments", source[160] = "its declaration",
         tuple[120] = "";
    unsigned n = parameters_of(a, function, tuple, sizeof tuple);
    if (n > 1)
        (void)snprintf(takes, sizeof takes, "%u arguments", n);
    bool known = js_assigned(a, list, &value, &line);
    if (known && match(a->g, "^(?:await\\s+)?([\\w$]+)\\(", value, &call))
        (void)snprintf(source, sizeof source, "the return type of %.*s()",
                       P(piece_cut(call.group[0], 60)));
    bool literal = known && starts_with(value, "[") && !piece_has(value, "as const");
    suggest(a->d, 10, 0.93,
            "'%.*s' is a list of any length, and %.*s() takes %s: make it a tuple, such as %s, in "
            "%s%s.",
            P(list), P(function), takes, n > 0 ? tuple : "[T, T]", source,
            literal ? ", or write `as const` behind its value" : "");
}

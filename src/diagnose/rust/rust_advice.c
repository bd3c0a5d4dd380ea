/* Rules for Rust. Runs in: keeper. */
#include "diagnose/rust/rust.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/rust_advice.words.h" /* generated */

/* ---- the help of rustc ---- */

/* The part of the text that is about the first error: up to the next. */
static struct piece first_error(const struct advice *a)
{
    struct piece rest = text_of(a->in), line;
    struct match m;
    struct piece first = NO_PIECE;
    while (next_line(&rest, &line)) {
        bool head = match(a->g, "^(?:error|warning)(?:\\[E\\d+\\])?: ", line, &m);
        if (head && first.at)
            return piece_through(first, piece_cut(line, 0));
        if (head && starts_with(line, "error"))
            first = line;
    }
    return first.at ? piece_through(first, rest) : NO_PIECE;
}

/* "help: consider ...", then the line as it should be: "8 |     area(w.try_into().unwrap(), h)", or
 * "1 + use x;". */
static bool advise_help_like(const struct advice *a, const char *pattern, unsigned number,
                             double confidence)
{
    struct piece rest = first_error(a), line, shown;
    struct match m, n;
    while (next_line(&rest, &line)) {
        if (!match(a->g, pattern, line, &m))
            continue;
        struct piece advice = m.group[0];
        /* The line stands below, after lines of the frame. */
        struct piece after = rest;
        char replacement[240] = "";
        for (unsigned i = 0; i < 6 && next_line(&after, &shown); i++) {
            if (!match(a->g, "^\\s*(\\d+) *([|+~]) ?(.*)$", shown, &n)) {
                if (replacement[0])
                    break;
                continue;
            }
            /* Lines that change together are marked with ~. */
            size_t used = strlen(replacement);
            if (used == 0 || piece_is(n.group[1], "~"))
                (void)snprintf(replacement + used, sizeof replacement - used, "%s%.*s",
                               used ? "\n" : "", P(n.group[2]));
            if (!piece_is(n.group[1], "~"))
                break;
        }
        suggest(a->d, number, confidence, "%c%.*s.", toupper((unsigned char)piece_at(advice, 1)),
                P(piece_from(advice, 2)));
        if (replacement[0])
            suggest_replacement(a->d, "%s", replacement);
        return true;
    }
    return false;
}

/* Help that comes with a line to write is tried first. Help that only names a missing trait is
 * skipped. */
static bool advise_help(const struct advice *a, unsigned number, double confidence)
{
    return advise_help_like(a,
                            "^help: (?!the trait |the following |within |items from traits |for "
                            "further )(.+?):?$",
                            number, confidence) ||
           advise_help_like(a,
                            "^\\s+= help: (?!the trait |the following |within |items from traits "
                            "|for further )(.+?):?$",
                            number, confidence);
}

/* "^^^^ help: a local variable with a similar name exists: `total`", in the line below the code. */
static bool advise_inline_help(const struct advice *a, unsigned number)
{
    struct match m;
    char better[160], word[160] = "";
    if (!match_text(a->g, "\\bhelp: (.+?): `([^`]+)`$", first_error(a), &m))
        return false;
    struct piece help_text = m.group[0];
    COPY(m.group[1], better);
    suggest(a->d, number, 0.9, "%c%.*s: `%s`.", toupper((unsigned char)piece_at(help_text, 1)),
            P(piece_from(help_text, 2)), better);
    struct piece line = a->line;
    uint32_t from = a->d->location.column, to = a->d->location.end_column;
    if (from > 0 && to > from && piece_at(line, to - 1) && piece_has(help_text, "similar name")) {
        COPY(piece_cut(piece_from(line, from), to - from), word);
        (void)suggest_swap(a->in, a->d, piece_of(word), better);
    }
    return true;
}

static void advise_offer(const struct advice *a)
{
    (void)(advise_inline_help(a, a->rule->number) || advise_help(a, a->rule->number, 0.85));
}

/* ---- ownership ---- */

/* The line above a label: "7 |     let loud = shout(word);" above "  |    ---- value moved
 * here". */
static uint32_t labelled_line(const struct advice *a, const char *label)
{
    struct piece rest = first_error(a), line;
    struct match m;
    uint32_t n = 0;
    while (next_line(&rest, &line)) {
        if (match(a->g, "^\\s*(\\d+) *\\|", line, &m))
            n = piece_number(m.group[0]);
        else if (piece_has(line, label))
            return n;
    }
    return 0;
}

static void advise_moved(const struct advice *a)
{
    struct piece name = a->m.group[0];
    uint32_t moved = labelled_line(a, "value moved here");
    if (moved == 0)
        moved = labelled_line(a, "moved due to this");
    uint32_t closure = moved == 0 ? labelled_line(a, "value moved into closure here") : 0;
    if (closure > 0) {
        suggest(a->d, 36, 0.9,
                "The closure on line %u moves `%.*s` into itself: make a copy for it before, `let "
                "copy = %.*s.clone();`, and use that inside (or std::sync::Arc, between threads).",
                closure, P(name), P(name));
        return;
    }
    const struct source_file *f = a->file;
    struct piece line = source_line(f, moved);
    char clone[160];
    (void)snprintf(clone, sizeof clone, "%.*s.clone()", P(name));
    if (moved == 0) {
        suggest(a->d, 36, 0.7,
                "`%.*s` was moved before: borrow it there (&%.*s), or pass a copy (%s).", P(name),
                P(name), clone);
        return;
    }
    suggest(a->d, 36, 0.9,
            "Line %u moves `%.*s`: borrow it there (`&%.*s`, if the function does not need to own "
            "it), or pass a copy (`%s`).",
            moved, P(name), P(name), clone);
    struct match c;
    /* The last use in the line: on the left of '=' stands another variable. */
    struct piece rest = line, used = NO_PIECE;
    for (size_t at; (at = find_word(rest, name)) < rest.len;) {
        used = piece_cut(piece_skip(rest, at), name.len);
        rest = piece_after(rest, used);
    }
    if (!used.at)
        return;
    struct piece before = piece_cut(line, piece_offset(line, used));
    if (match(a->g, "\\bfor\\b.*\\bin\\b", line, &c))
        suggest_replacement(a->d, "%.*s&%.*s%.*s", P(before), P(used), P(rest));
    else
        suggest_replacement(a->d, "%.*s%s%.*s", P(before), clone, P(rest));
}

static void advise_borrowed(const struct advice *a)
{
    struct piece name = a->m.group[0];
    if (starts_with(name, "*"))
        name = piece_skip(name, 1);
    uint32_t first = labelled_line(a, "borrow occurs here"),
             later = labelled_line(a, "later used here");
    if (!first)
        first = labelled_line(a, "borrow of ");
    if (first && first == later)
        suggest(a->d, 36, 0.85,
                "Line %u borrows `%.*s` until its loop ends: collect the changes and apply them "
                "after the loop, or loop over a copy (.clone()).",
                first, P(name));
    else if (first && later)
        suggest(a->d, 36, 0.85,
                "Line %u borrows `%.*s`, and the borrow is used until line %u: do this after line "
                "%u, or take a copy on line %u (.clone(), or *value of a number).",
                first, P(name), later, later, first);
    else
        suggest(a->d, 36, 0.7,
                "`%.*s` is still borrowed there: end the earlier borrow before (in a block of its "
                "own), or take a copy with .clone().",
                P(name));
}

static void advise_twice_mutable(const struct advice *a)
{
    struct piece name = a->m.group[0];
    uint32_t first = labelled_line(a, "first mutable borrow"),
             later = labelled_line(a, "later used here");
    if (first && later)
        suggest(a->d, 36, 0.85,
                "`%.*s` can be borrowed as mutable once at a time: end the borrow of line %u (used "
                "until line %u) before the next one, or use one borrow for both.",
                P(name), first, later);
    else
        suggest(a->d, 36, 0.7,
                "`%.*s` can be borrowed as mutable once at a time: end the first borrow before the "
                "second.",
                P(name));
}

/* Advice that depends only on the two types. */
static void advise_types(const struct advice *a, struct piece want, struct piece have)
{
    bool maybe = starts_with(have, "Option");
    if ((maybe || starts_with(have, "Result")) && !starts_with(want, "Option") &&
        !starts_with(want, "Result"))
        suggest(a->d, 36, 0.85,
                "The value is a `%.*s`, which may hold %s: take the value out with `match`, "
                "`.unwrap_or(...)` or `?`%s.",
                P(have), maybe ? "nothing (None)" : "an error (Err)",
                maybe ? " (behind a reference, .copied() or .cloned() first)" : "");
    else if (piece_is(have, "()"))
        suggest(a->d, 36, 0.8,
                "The block has no value (`()`) where `%.*s` is expected: remove a `;` after its "
                "last expression, or add the `else`.",
                P(want));
    else if (starts_with(want, "Option") || starts_with(want, "Result"))
        suggest(a->d, 36, 0.7, "Wrap it: `Some(...)` or `Ok(...)` makes `%.*s` of it.", P(want));
    else
        suggest(a->d, 36, 0.6,
                "`%.*s` is expected there%s%.*s%s: convert it (`as`, .into(), .parse()), or change "
                "the type.",
                P(want), have.at ? ", and this is `" : "", P(have), have.at ? "`" : "");
}

/* "expected `u32`, found `u64`" below the line. */
static void advise_mismatched(const struct advice *a)
{
    struct match t;
    if (!match_text(a->g,
                    "expected (?:struct |enum |reference |type |associated type |unit type "
                    ")?`([^`]+)`, found (?:struct |enum |reference |integer|type |opaque type "
                    "|unit type |floating-point number)?(?:`([^`]+)`)?",
                    first_error(a), &t)) {
        advise_offer(a);
        return;
    }
    struct piece want = t.group[0], have = t.group[1];
    struct piece line = a->line;
    uint32_t from = a->d->location.column, to = a->d->location.end_column;
    bool shown = from > 0 && to > from && piece_at(line, to - 1);
    struct match arm;
    if (piece_is(want, "String") &&
        match(a->g, "^\\s*\".*\"(?:\\s*\\|\\s*\".*\")*\\s*(?:if .*)?=>", line, &arm)) {
        suggest(a->d, 36, 0.9,
                "A String is matched as a `&str`: write `match value.as_str() { ... }`.");
        return;
    }
    if (piece_is(want, "String") && piece_has(have, "str")) {
        suggest(a->d, 36, 0.9, "A `&str` is borrowed text; `.to_string()` makes a `String` of it.");
        if (shown)
            suggest_replacement(a->d, "%.*s.to_string()%.*s", P(piece_before(line, to)),
                                P(piece_from(line, to)));
        return;
    }
    if (starts_with(want, "&") && shown && piece_is(have, "String")) {
        suggest(a->d, 36, 0.85, "Borrow it: write `&` before it.");
        suggest_replacement(a->d, "%.*s&%.*s", P(piece_before(line, from)),
                            P(piece_from(line, from)));
        return;
    }
    if (!advise_help(a, 36, 0.85))
        advise_types(a, want, have);
}

/* ---- names ---- */

static void advise_name(const struct advice *a)
{
    if (advise_inline_help(a, 0) || advise_help(a, 0, 0.9))
        return;
    advise_nearest(a);
}

static void advise_crate(const struct advice *a)
{
    struct piece crate = a->m.group[0];
    if (piece_among(crate, std_words))
        suggest(a->d, 0, 0.85, "`%.*s` is in the standard library: `std::%.*s`.", P(crate),
                P(crate));
    else if (piece_among(crate, crates))
        suggest(a->d, 0, 0.9,
                "`%.*s` is a crate that is not available here, and a jar cannot download it: use "
                "the standard library, or add the crate's files to the job.",
                P(crate));
    else if (!advise_help(a, 0, 0.9))
        suggest(a->d, 0, 0.8,
                "`%.*s` is not a module of the program, and other crates are not available here: "
                "use the standard library, or write it as a module (mod %.*s).",
                P(crate), P(crate));
}

/* Hash, for std::hash::Hash. */
static struct piece base_name(struct piece path)
{
    for (size_t at; (at = piece_find(path, "::")) < path.len;)
        path = piece_skip(path, at + 2);
    return path;
}

static void advise_trait(const struct advice *a)
{
    struct piece type = a->m.group[0], trait = a->m.group[1];
    if (piece_is(trait, "Debug") || piece_has(trait, "Debug")) {
        suggest(a->d, 0, 0.9, "`{:?}` needs Debug: write #[derive(Debug)] above `%.*s`.", P(type));
        suggest_replacement(a->d, "#[derive(Debug)]");
        return;
    }
    if (piece_has(trait, "Display")) {
        suggest(a->d, 0, 0.85,
                "`%.*s` cannot be printed with `{}`: use `{:?}` (with #[derive(Debug)] for a type "
                "of your own), or implement std::fmt::Display.",
                P(type));
        return;
    }
    (void)advise_help(a, 0, 0.7);
}

/* The type lacks a bound of a generic function. */
static void advise_bound(const struct advice *a)
{
    struct piece type = a->m.group[0], trait = a->m.group[1];
    bool own = false; /* the type or the trait is the program's own and can be implemented */
    for (size_t i = 0; i < a->in->n_sources && !own; i++) {
        struct piece rest = text_of_source(&a->in->sources[i]), line;
        struct match c;
        while (!own && next_line(&rest, &line))
            own = match(a->g, "^\\s*(?:pub )?(?:struct|enum|trait)\\s", line, &c) &&
                  (has_word(line, type) || has_word(line, trait));
    }
    if (own && piece_among(trait, derived))
        suggest(a->d, 0, 0.9, "Write #[derive(%.*s)] above `%.*s`.", P(base_name(trait)), P(type));
    else if (own)
        suggest(a->d, 0, 0.85, "Implement it: `impl %.*s for %.*s { ... }`.", P(trait), P(type));
    else
        advise_offer(a);
}

/* Rc and RefCell are for one thread. */
static void advise_send(const struct advice *a)
{
    struct piece type = a->m.group[0];
    const struct word_pair *p = pair_in(one_thread, type);
    if (p)
        suggest(a->d, 0, 0.9, "`%s...>` is for one thread only: between threads, use %s.", p->word,
                p->text);
    else
        advise_offer(a);
}

/* A returned reference, such as "&str", without a borrowed argument that it could be part of. */
static void advise_lifetime(const struct advice *a)
{
    if (piece_has(first_error(a), "no value for it to be borrowed from"))
        suggest(a->d, 0, 0.85,
                "The reference would point at a value that ends with the function: return the "
                "value itself (`String` for `&str`, `Vec<T>` for `&[T]`), or take the parameter as "
                "a reference.");
    else
        advise_offer(a);
}

static void advise_annotation(const struct advice *a)
{
    struct match c;
    if (match(a->g, "\\.(sum|product|parse|collect|into)\\(\\)", a->line, &c) &&
        !piece_is(c.group[0], "into"))
        suggest(a->d, 0, 0.85, "Name the type that `%.*s` returns: `.%.*s::<%s>()`.", P(c.group[0]),
                P(c.group[0]), piece_is(c.group[0], "collect") ? "Vec<_>" : "f64");
    else
        advise_offer(a);
}

/* .expect("message") of None prints only the message. */
static void advise_expected(const struct advice *a)
{
    struct match c;
    if (match(a->g, "\\.expect\\(\"(.*?)\"\\)", a->line, &c) && piece_is(c.group[0], a->d->message))
        suggest(a->d, 0, 0.85,
                "The value on line %u is None: handle both cases with `if let Some(x) = ...` or "
                "`match`, or give a default with .unwrap_or(...).",
                a->d->location.line);
}

static void advise_arithmetic(const struct advice *a)
{
    struct piece one = a->m.group[0], other = a->m.group[1];
    struct piece to = piece_has(one, "float") ? PIECE("f64") : piece_has(one, "{") ? other : one;
    suggest(a->d, 0, 0.8,
            "Rust does not mix types of numbers: convert one (`value as %.*s`), or give both the "
            "same type.",
            P(to));
}

static void advise_unclosed(const struct advice *a)
{
    uint32_t line = labelled_line(a, "might not be properly closed");
    if (line == 0)
        line = labelled_line(a, "unclosed delimiter");
    if (line > 0)
        suggest(a->d, 0, 0.85, "The bracket that opens on line %u is not closed: close it.", line);
}

#include "diagnose/rust_advice.rules.h" /* generated */

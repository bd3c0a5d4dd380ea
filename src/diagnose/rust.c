/* Rust: what rustc says, and panics in both of their forms. */
#include <stdio.h>
#include <string.h>

#include "diagnose/advice.h"

#define SAID(m, n) (int)(m)->group[n].len, (m)->group[n].at

/* ---- what rustc itself offers ---- */

/* The part of the text that is about the first error: up to the next. */
static struct piece first_error(const struct advising *a)
{
    struct piece rest = text_of(a->in), line;
    struct match m;
    const char *from = NULL;
    while (next_line(&rest, &line)) {
        bool head = match(a->g, "^(?:error|warning)(?:\\[E\\d+\\])?: ", line, &m);
        if (head && from)
            return (struct piece){ from, (size_t)(line.at - from) };
        if (head && starts_with(line, "error"))
            from = line.at;
    }
    return from ? (struct piece){ from, (size_t)(rest.at - from) } : NO_PIECE;
}

/* "help: consider ...", then the line as it should be: "8 |     area(w.try_into().unwrap(), h)", or "1 + use x;". */
static bool tell_help_like(const struct advising *a, const char *pattern, unsigned rule,
                           double confidence)
{
    struct piece rest = first_error(a), line, shown;
    struct match m, n;
    while (next_line(&rest, &line)) {
        if (!match(a->g, pattern, line, &m))
            continue;
        struct piece advice = m.group[0];
        /* Below it: a line of its frame, or the line itself. */
        struct piece after = rest;
        char replacement[240] = "";
        for (unsigned i = 0; i < 3 && next_line(&after, &shown); i++)
            if (match(a->g, "^\\s*(\\d+) *[|+~] ?(.*)$", shown, &n)) {
                COPY(n.group[1], replacement);
                break;
            }
        suggest(a->d, rule, confidence, "%c%.*s.", (int)(advice.at[0] & ~32), (int)advice.len - 1,
                advice.at + 1);
        if (replacement[0])
            suggest_replacement(a->d, "%s", replacement);
        return true;
    }
    return false;
}

/* What comes with a line to write first. */
static bool tell_help(const struct advising *a, unsigned rule, double confidence)
{
    return tell_help_like(a, "^help: (.*?):?$", rule, confidence) ||
           tell_help_like(a, "^\\s+= help: (.*?):?$", rule, confidence);
}

/* "^^^^ help: a local variable with a similar name exists: `total`", in the line below the code. */
static bool tell_inline_help(const struct advising *a, unsigned rule)
{
    struct match m;
    char better[160], word[160] = "";
    if (!match_text(a->g, "\\bhelp: (.*?): `([^`]+)`$", first_error(a), &m))
        return false;
    struct piece said = m.group[0];
    COPY(m.group[1], better);
    suggest(a->d, rule, 0.9, "%c%.*s: `%s`.", (int)(said.at[0] & ~32), (int)said.len - 1,
            said.at + 1, better);
    struct piece line = line_at(a->in, a->d);
    uint32_t from = a->d->location.column, to = a->d->location.end_column;
    if (line.at && from > 0 && to > from && to - 1 <= line.len && piece_has(said, "similar name")) {
        COPY(((struct piece){ line.at + from - 1, to - from }), word);
        (void)suggest_swap(a->in, a->d, piece_of(word), better);
    }
    return true;
}

static void tell_offer(const struct advising *a, const struct match *m)
{
    (void)m;
    (void)(tell_inline_help(a, a->row->rule) || tell_help(a, a->row->rule, 0.85));
}

/* ---- ownership ---- */

/* Where rustc says that: "7 |     let loud = shout(word);" above "  |    ---- value moved here". */
static uint32_t labelled_line(const struct advising *a, const char *label)
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

static void tell_moved(const struct advising *a, const struct match *m)
{
    struct piece name = m->group[0];
    uint32_t moved = labelled_line(a, "value moved here");
    if (moved == 0)
        moved = labelled_line(a, "moved due to this");
    const struct source_file *f = find_source(a->in, piece_of(a->d->location.file));
    struct piece line = source_line(f, moved);
    char clone[160];
    (void)snprintf(clone, sizeof clone, "%.*s.clone()", (int)name.len, name.at);
    if (moved == 0) {
        suggest(a->d, 36, 0.7,
                "`%.*s` was moved before: borrow it there (&%.*s), or give a copy away (%s).",
                (int)name.len, name.at, (int)name.len, name.at, clone);
        return;
    }
    suggest(a->d, 36, 0.9,
            "Line %u gives `%.*s` away: borrow it there (`&%.*s`, when it need not be owned), or "
            "give a copy "
            "away (`%s`).",
            moved, (int)name.len, name.at, (int)name.len, name.at, clone);
    struct match c;
    /* The last of them in the line: what is on the left of '=' is another. */
    size_t at = 0, found = line.len;
    struct piece rest = line;
    while (line.at && has_word(rest, name, &at)) {
        found = (size_t)(rest.at - line.at) + at;
        rest = (struct piece){ line.at + found + name.len, line.len - found - name.len };
    }
    if (line.at && found < line.len && !match(a->g, "\\bfor\\b.*\\bin\\b", line, &c))
        suggest_replacement(a->d, "%.*s%s%.*s", (int)found, line.at, clone,
                            (int)(line.len - found - name.len), line.at + found + name.len);
    else if (line.at && found < line.len)
        suggest_replacement(a->d, "%.*s&%.*s", (int)found, line.at, (int)(line.len - found),
                            line.at + found);
}

static void tell_borrowed(const struct advising *a, const struct match *m)
{
    struct piece name = m->group[0];
    uint32_t first = labelled_line(a, "borrow occurs here"),
             later = labelled_line(a, "later used here");
    if (!first)
        first = labelled_line(a, "borrow of ");
    if (first && later)
        suggest(a->d, 36, 0.85,
                "Line %u borrows `%.*s`, and the borrow is used until line %u: do this after line "
                "%u, or "
                "take a copy on line %u (.clone(), or *value of a number).",
                first, (int)name.len, name.at, later, later, first);
    else
        suggest(a->d, 36, 0.7,
                "`%.*s` is still borrowed there: end the earlier borrow before (a block of its "
                "own), or "
                "take a copy with .clone().",
                (int)name.len, name.at);
}

static void tell_twice_mutable(const struct advising *a, const struct match *m)
{
    struct piece name = m->group[0];
    uint32_t first = labelled_line(a, "first mutable borrow"),
             later = labelled_line(a, "later used here");
    if (first && later)
        suggest(a->d, 36, 0.85,
                "`%.*s` can be borrowed as mutable once at a time: finish with the borrow of line "
                "%u (used "
                "until line %u) before taking the next, or use one for both.",
                (int)name.len, name.at, first, later);
    else
        suggest(a->d, 36, 0.7,
                "`%.*s` can be borrowed as mutable once at a time: end the first borrow before the "
                "second.",
                (int)name.len, name.at);
}

/* "expected `u32`, found `u64`" below the line. */
static void tell_mismatched(const struct advising *a, const struct match *m)
{
    (void)m;
    struct match t;
    if (!match_text(a->g,
                    "expected (?:struct |enum |reference |type |associated type |unit type "
                    ")?`([^`]+)`, found "
                    "(?:struct |enum |reference |integer|type |opaque type |unit type "
                    "|floating-point number)?(?:`([^`]+)`)?",
                    first_error(a), &t)) {
        tell_offer(a, m);
        return;
    }
    struct piece want = t.group[0], have = t.group[1];
    struct piece line = line_at(a->in, a->d);
    uint32_t from = a->d->location.column, to = a->d->location.end_column;
    bool shown = line.at && from > 0 && to > from && to - 1 <= line.len;
    if (piece_is(want, "String") && piece_has(have, "str")) {
        suggest(a->d, 36, 0.9, "A `&str` is borrowed text; `.to_string()` makes a `String` of it.");
        if (shown)
            suggest_replacement(a->d, "%.*s.to_string()%.*s", (int)(to - 1), line.at,
                                (int)(line.len - to + 1), line.at + to - 1);
        return;
    }
    if (starts_with(want, "&") && shown && piece_is(have, "String")) {
        suggest(a->d, 36, 0.85, "Borrow it: write `&` before it.");
        suggest_replacement(a->d, "%.*s&%.*s", (int)(from - 1), line.at, (int)(line.len - from + 1),
                            line.at + from - 1);
        return;
    }
    if (tell_help(a, 36, 0.85))
        return;
    if (piece_is(have, "()"))
        suggest(a->d, 36, 0.8,
                "The block gives nothing (`()`) where `%.*s` is expected: is there a `;` after its "
                "last "
                "expression, or no `else`?",
                (int)want.len, want.at);
    else if (starts_with(want, "Option") || starts_with(want, "Result"))
        suggest(a->d, 36, 0.7, "Wrap it: `Some(...)` or `Ok(...)` makes `%.*s` of it.",
                (int)want.len, want.at);
    else
        suggest(a->d, 36, 0.6,
                "`%.*s` is expected there%s%.*s%s: convert it (`as`, .into(), .parse()), or "
                "change the type.",
                (int)want.len, want.at, have.at ? ", and this is `" : "", (int)have.len,
                have.at ? have.at : "", have.at ? "`" : "");
}

/* ---- names ---- */

static const char *const traits[] = { "println", "print", "vec",    "String", "Some",
                                      "None",    "Vec",   "Option", "Result", "format",
                                      "assert",  "panic", "len",    "push",   NULL };

static void tell_name(const struct advising *a, const struct match *m)
{
    if (tell_inline_help(a, 0) || tell_help(a, 0, 0.9))
        return;
    tell_nearest(a, m);
}

static void tell_crate(const struct advising *a, const struct match *m)
{
    struct piece crate = m->group[0];
    static const char *const std_words[] = { "collections", "fs",  "io",      "env",  "thread",
                                             "time",        "fmt", "rc",      "sync", "cell",
                                             "cmp",         "mem", "process", "path", NULL };
    if (piece_among(crate, std_words))
        suggest(a->d, 0, 0.85, "`%.*s` is in the standard library: `std::%.*s`.", (int)crate.len,
                crate.at, (int)crate.len, crate.at);
    else if (!tell_help(a, 0, 0.9))
        suggest(a->d, 0, 0.8,
                "`%.*s` is no module of the program's, and crates from elsewhere are not available "
                "here: use "
                "what std has, or write it as a module (mod %.*s).",
                (int)crate.len, crate.at, (int)crate.len, crate.at);
}

static void tell_trait(const struct advising *a, const struct match *m)
{
    struct piece type = m->group[0], trait = m->group[1];
    if (piece_is(trait, "Debug") || piece_has(trait, "Debug")) {
        suggest(a->d, 0, 0.9, "`{:?}` needs Debug: write #[derive(Debug)] above `%.*s`.",
                (int)type.len, type.at);
        suggest_replacement(a->d, "#[derive(Debug)]");
        return;
    }
    if (piece_has(trait, "Display")) {
        suggest(a->d, 0, 0.85,
                "`%.*s` cannot be printed with `{}`: use `{:?}` (with #[derive(Debug)] for a "
                "type of your own), or implement std::fmt::Display.",
                (int)type.len, type.at);
        return;
    }
    (void)tell_help(a, 0, 0.7);
}

static void tell_arithmetic(const struct advising *a, const struct match *m)
{
    struct piece one = m->group[0], other = m->group[1];
    struct piece to = piece_has(one, "float") ? PIECE("f64") : piece_has(one, "{") ? other : one;
    suggest(a->d, 0, 0.8,
            "Rust does not mix types of numbers: convert one (`value as %.*s`), or write both of "
            "the same kind.",
            (int)to.len, to.at);
}

static void tell_unclosed(const struct advising *a, const struct match *m)
{
    (void)m;
    uint32_t line = labelled_line(a, "might not be properly closed");
    if (line == 0)
        line = labelled_line(a, "unclosed delimiter");
    if (line > 0)
        suggest(a->d, 0, 0.85, "The bracket that is opened on line %u is not closed.", line);
}

#define CODE "https://doc.rust-lang.org/error_codes/"

static const struct advice table[] = {
    TELL("^E0382: .*: `(.+?)`", CATEGORY_TYPE, 36, tell_moved),
    TELL("^E050[2568]: .*?`(.+?)`", CATEGORY_TYPE, 36, tell_borrowed),
    TELL("^E0499: .*?`(.+?)`", CATEGORY_TYPE, 36, tell_twice_mutable),
    TELL("^E0308", CATEGORY_TYPE, 36, tell_mismatched),
    SAY("^E0507: .*?`(.+?)`", CATEGORY_TYPE, 36, 0.8,
        "What is behind a reference cannot be taken out: use `.clone()`, `.as_ref()` or "
        "std::mem::take."),
    SAY("^E0384: .*`(.+?)`", CATEGORY_TYPE, 0, 0.9,
        "Variables cannot be changed unless they say so: declare it as `let mut {1}`."),
    SAY("^E0596: .*?`\\*?(.+?)` as mutable", CATEGORY_TYPE, 0, 0.9,
        "Variables cannot be changed unless they say so: declare it as `mut {1}` (a parameter: "
        "`&mut`)."),
    SAY("^E0594: .*?`(.+?)`", CATEGORY_TYPE, 0, 0.85,
        "`{1}` is not mutable: declare it with `mut`, or borrow it with `&mut`."),
    SAY("^E0597: `(.+?)`", CATEGORY_TYPE, 36, 0.8,
        "`{1}` ends with its block, and the reference to it goes on: declare `{1}` outside of the "
        "block, or "
        "keep the value itself and not a reference."),
    SAY("^E0716", CATEGORY_TYPE, 36, 0.8,
        "The value is gone at the end of the statement: give it a `let` of its own."),
    SAY("^E0515", CATEGORY_TYPE, 36, 0.8,
        "What a function owns ends with it: return the value itself (String, Vec) and not a "
        "reference to it."),
    SAY("^E0373", CATEGORY_TYPE, 36, 0.9,
        "The closure may live longer than what it borrows: write `move` before its bars, `move || "
        "...`."),
    TELL("^E0106", CATEGORY_TYPE, 0, tell_offer),
    TELL("^E0(?:425|412|405|531|423|424|574): .*?`(?:[\\w:]*::)?(\\w+)`", CATEGORY_NAME, 0,
         tell_name, .names = traits),
    TELL("^E0433: .*(?:crate or module|unlinked crate|unresolved module|module) `(\\w+)`",
         CATEGORY_IMPORT, 0, tell_crate),
    TELL("^E0433: .*`(\\w+)`", CATEGORY_NAME, 0, tell_name),
    TELL("^E0(?:432|463): .*?`(\\w+)", CATEGORY_IMPORT, 0, tell_crate),
    SAY("^E0583: .*`(\\w+)`", CATEGORY_IMPORT, 0, 0.85,
        "`mod {1};` wants a file: send {1}.rs (or {1}/mod.rs) with the job, or write the module in "
        "place, "
        "`mod {1} { ... }`."),
    TELL("^E0(?:599|609|560|610|615|407|576): .*?(?:named|field|method|item) `(\\w+)`",
         CATEGORY_NAME, 0, tell_name, .names = traits),
    IS("^E0(?:599|609|560|615)", CATEGORY_NAME),
    SAY("^E0004: .*?: (`.+`) not covered", CATEGORY_TYPE, 0, 0.85,
        "The match has no arm for {1}: add one, or `_ => ...` for all the rest."),
    TELL("^E0277: `(.+?)` doesn't implement `(.+?)`", CATEGORY_TYPE, 0, tell_trait),
    TELL("^E0277: cannot (?:add|subtract|multiply|divide|compare|calculate).*?`(.+?)` "
         "(?:to|from|by|with) `(.+?)`",
         CATEGORY_TYPE, 0, tell_arithmetic),
    SAY("^E0277: the type `(?:String|str)` cannot be indexed by", CATEGORY_TYPE, 0, 0.9,
        "A text is not indexed by numbers: text.chars().nth(0) gives a character, &text[0..1] a "
        "part by bytes."),
    SAY("^E0277: the type `(.+?)` cannot be indexed by `(.+?)`", CATEGORY_TYPE, 0, 0.9,
        "Indices are of type usize: write `as usize` after it."),
    SAY("^E0277: the `\\?` operator", CATEGORY_TYPE, 0, 0.85,
        "`?` hands the error to the caller, so the function has to return a Result (or an "
        "Option)."),
    TELL("^E0277", CATEGORY_TYPE, 0, tell_offer),
    SAY("^E0061: .*takes (\\d+) arguments? but (\\d+)", CATEGORY_TYPE, 0, 0.8,
        "It takes {1} arguments, and was given {2}."),
    SAY("^E0063: missing fields? (.*?) in", CATEGORY_TYPE, 0, 0.85, "Give {1} a value too."),
    SAY("^E0282", CATEGORY_TYPE, 0, 0.8,
        "Say which type it is: `let x: Vec<i32> = ...`, or `collect::<Vec<_>>()`."),
    SAY("^E0601", CATEGORY_NAME, 0, 0.9, "A program begins in `fn main()`: add it.", "fn main() {"),
    SAY("^E0603: .*`(.+?)` is private", CATEGORY_TYPE, 0, 0.85,
        "Write `pub` before `{1}` where it is declared."),
    SAY("^E0369: .*?`(.+?)` to|^E0369", CATEGORY_TYPE, 0, 0.6,
        "The type has no such operator: two Strings are joined with format!(\"{}{}\", a, b); a "
        "type of your own "
        "derives or implements the operator's trait."),
    SAY("^E0381: .*?`(\\w+)`", CATEGORY_NAME, 0, 0.85, "Give `{1}` a value before it is used."),
    SAY("^E0428: .*`(\\w+)`", CATEGORY_NAME, 0, 0.8,
        "`{1}` is defined twice: rename or remove one."),
    SAY("^E0133", CATEGORY_TYPE, 0, 0.8,
        "Put the call into `unsafe { ... }`, when what it asks for holds."),
    IS("^E0", CATEGORY_TYPE),
    TELL("unclosed delimiter", CATEGORY_SYNTAX, 0, tell_unclosed),
    SAY("^expected `;`|^expected one of.*`;`", CATEGORY_SYNTAX, 0, 0.9,
        "The statement has no `;` at its end."),
    SAY("^cannot find macro `(\\w+)`", CATEGORY_NAME, 0, 0.7,
        "There is no macro `{1}!`; printing is println!."),
    TELL("^expected|^unexpected|^unterminated|^mismatched closing|^unknown "
         "start|^missing|^invalid|^prefix|"
         "^character literal|^this file contains|^leading|^struct literals",
         CATEGORY_SYNTAX, 0, tell_offer),
    IS("^linking with|^linker", CATEGORY_COMPILE),

    SAY("panic: called `Option::(unwrap|expect)\\(\\)` on a `None`", CATEGORY_RUNTIME, 0, 0.85,
        "There was no value (None): deal with both cases, `if let Some(x) = ...`, or give one with "
        ".unwrap_or(...).",
        .docs = "https://doc.rust-lang.org/std/option/enum.Option.html"),
    SAY("panic: .*(?:ParseIntError|ParseFloatError|ParseBoolError|ParseCharError|Utf8Error)",
        CATEGORY_VALUE, 0, 0.85,
        "The text is not what parse() reads (a number without spaces or letters): trim() it, and "
        "deal "
        "with the error, `match text.parse::<i32>() { Ok(n) => ..., Err(e) => ... }`.",
        .docs = "https://doc.rust-lang.org/std/primitive.str.html#method.parse"),
    SAY("panic: .*Os \\{ code: 2", CATEGORY_IO, 22, 0.8,
        "A file that is not in the jar: send it with the job, or write it first."),
    IS("panic: .*Os \\{ code: (?:13|1|30)\\b", CATEGORY_PERMISSION),
    SAY("panic: called `Result::(unwrap|expect)\\(\\)` on an `Err` value: (.*)", CATEGORY_RUNTIME,
        0, 0.8,
        "It failed with {2}: deal with both cases (match, or `?` in a function that returns a "
        "Result).",
        .docs = "https://doc.rust-lang.org/std/result/enum.Result.html"),
    SAY("panic: index out of bounds: the len is (\\d+) but the index is (\\d+)", CATEGORY_INDEX, 0,
        0.85,
        "Index {2} is not among the {1} there are, which begin at 0: compare with .len() first, or "
        "use "
        ".get({2}), which gives an Option.",
        .docs = "https://doc.rust-lang.org/std/primitive.slice.html#method.get"),
    SAY("panic: .*(?:out of range for slice|range end index|range start index|byte index|slice "
        "index)",
        CATEGORY_INDEX, 0, 0.8,
        "The range does not fit: compare its ends with .len() first, or use .get(range)."),
    SAY("panic: attempt to (add|subtract|multiply|negate) with overflow", CATEGORY_VALUE, 0, 0.85,
        "The result does not fit the type (below 0, for an unsigned one): use checked_*, "
        "saturating_* or "
        "wrapping_* (checked_sub, ...), or a wider type.",
        .docs = "https://doc.rust-lang.org/std/primitive.u32.html#method.checked_sub"),
    SAY("panic: attempt to (?:divide by zero|calculate the remainder)", CATEGORY_VALUE, 15, 0.85,
        "The divisor is 0 on that line: check it before, or use checked_div, which gives an "
        "Option."),
    IS("panic: .*overflow", CATEGORY_VALUE),
    SAY("panic: .*(?:BorrowMutError|already borrowed)", CATEGORY_RUNTIME, 36, 0.85,
        "A borrow() of the RefCell is still alive when it is borrowed for writing: end it before "
        "(a block of "
        "its own, or drop()).",
        .docs = "https://doc.rust-lang.org/std/cell/struct.RefCell.html"),
    SAY("panic: .*(?:BorrowError|already mutably borrowed)", CATEGORY_RUNTIME, 36, 0.85,
        "A borrow_mut() of the RefCell is still alive when it is borrowed: end it before (a block "
        "of its own, "
        "or drop()).",
        .docs = "https://doc.rust-lang.org/std/cell/struct.RefCell.html"),
    SAY("panic: assertion", CATEGORY_ASSERTION, 0, 0.5,
        "What the assertion says does not hold: compare the two sides above."),
    SAY("panic: (?:not implemented|not yet implemented)", CATEGORY_RUNTIME, 0, 0.8,
        "The program came to a todo!() or unimplemented!(): write what is to be there."),
    SAY("panic: no entry found for key", CATEGORY_INDEX, 0, 0.8,
        "The map has no such key: use .get(&key)."),
    SAY("stack overflow: ", CATEGORY_RESOURCE, 24, 0.8,
        "A function calls itself without an end: add the case in which it returns without calling "
        "itself."),
    SAY("memory allocation of (\\d+) bytes failed", CATEGORY_RESOURCE, 0, 0.6,
        "There was no memory for {1} bytes."),
    END_OF_ADVICE,
};

/* ---- reading ---- */

/* The underline below the place: "  |     ^^^^ message". */
static void read_underline(struct diagnoser *g, struct piece rest, struct diagnosis *d)
{
    struct piece line;
    struct match m;
    bool here = false;
    for (unsigned n = 0; n < 40 && next_line(&rest, &line); n++) {
        if (match(g, "^\\s*(\\d+) *\\| ?(.*)$", line, &m)) {
            here = piece_number(m.group[0]) == d->location.line;
            if (here)
                show_line(d, d->location.line, m.group[1]);
        } else if (here && match(g, "^\\s*\\|[ -]*(\\^+)", line, &m)) {
            d->location.end_column = d->location.column + (uint32_t)m.group[0].len;
            return;
        } else if (starts_with(line, "error") || line.len == 0) {
            return;
        }
    }
}

static bool read_compiler(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (!match(g, "^error(?:\\[(E\\d+)\\])?: (.*)$", line, &m))
            continue;
        COPY(m.group[0], d->type);
        COPY(m.group[1], d->message);
        struct piece after = rest;
        while (next_line(&after, &line)) {
            if (match(g, "^(?:error|warning)", line, &m))
                break;
            if (!match(g, "^\\s*(?:-->|:::) (.+):(\\d+):(\\d+)$", line, &m))
                continue;
            struct place_in_code p;
            bool users = set_place(in, &p, m.group[0], m.group[1], m.group[2]);
            if (users || d->location.line == 0)
                d->location = p;
            if (users) {
                read_underline(g, after, d);
                break;
            }
        }
        return true;
    }
    return false;
}

/* "  4: main::check" and "        at ./main.rs:3:9", with RUST_BACKTRACE. */
static void read_backtrace(struct diagnoser *g, const struct diagnose_input *in, struct piece rest,
                           struct diagnosis *d)
{
    struct piece line, function = NO_PIECE;
    struct match m;
    while (next_line(&rest, &line)) {
        if (match(g, "^\\s+\\d+: (?:0x[0-9a-f]+ - )?(\\S.*)$", line, &m))
            function = m.group[0];
        else if (match(g, "^\\s+at ([^\\s:]+):(\\d+)(?::(\\d+))?$", line, &m))
            add_frame(in, d, m.group[0], m.group[1], m.group[2], function);
        else if (starts_with(line, "note: "))
            return;
    }
}

static void set_message(struct diagnosis *d, struct piece message)
{
    struct piece trimmed = piece_trim(message);
    COPY(trimmed, d->message);
}

/* Old: thread 'main' panicked at 'message', main.rs:3:9 — the message may have lines of its own. */
static bool read_old_panic(struct diagnoser *g, const struct diagnose_input *in, struct piece text,
                           struct diagnosis *d)
{
    struct piece rest = text, line;
    struct match m;
    const char *quote = memchr(text.at, '\'', text.len);
    const char *from = quote ? quote + 1 : text.at;
    for (unsigned n = 0; n < 200 && next_line(&rest, &line); n++) {
        if (!match(g, "', ([^\\s':]+):(\\d+):(\\d+)$", line, &m))
            continue;
        set_message(d, (struct piece){ from, (size_t)(m.all.at - from) });
        (void)set_place(in, &d->location, m.group[0], m.group[1], m.group[2]);
        read_backtrace(g, in, rest, d);
        return true;
    }
    return false;
}

static bool read_panic(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (match(g, "^thread '.*' has overflowed its stack|^fatal runtime error: (stack overflow)",
                  line, &m)) {
            COPY(PIECE("stack overflow"), d->type);
            COPY(m.all, d->message);
            return true;
        }
        if (match(g, "^memory allocation of \\d+ bytes failed", line, &m)) {
            COPY(m.all, d->message);
            return true;
        }
        if (!match(g, "^thread '.*?' (?:\\(\\d+\\) )?panicked at (.*)$", line, &m))
            continue;
        COPY(PIECE("panic"), d->type);
        struct piece said = m.group[0];
        size_t skip = (size_t)(said.at - line.at);
        if (match(g, "^([^\\s':]+):(\\d+):(\\d+):$", said, &m)) {
            (void)set_place(in, &d->location, m.group[0], m.group[1], m.group[2]);
            /* The message: what stands before the backtrace, or the note about it. */
            const char *from = rest.at;
            const char *to = from;
            while (next_line(&rest, &line) && !starts_with(line, "note: ") &&
                   !starts_with(line, "stack backtrace:") && line.at - from < 1000)
                to = line.at + line.len;
            set_message(d, (struct piece){ from, (size_t)(to - from) });
            read_backtrace(g, in, rest, d);
        } else if (!read_old_panic(g, in,
                                   (struct piece){ line.at + skip,
                                                   (size_t)(rest.at + rest.len - line.at) - skip },
                                   d)) {
            set_message(d, said);
        }
        /* A panic inside of the library: the caller in the job's files is the place. */
        if (d->n_frames > 0 && d->frames[0].user && !find_source(in, piece_of(d->location.file)) &&
            in->n_sources > 0)
            d->location = d->frames[0].at;
        return true;
    }
    return false;
}

static bool read_rust(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    bool found = (!in->compiling && read_panic(g, in, d)) ||
                 ((in->compiling || !in->evidence) && read_compiler(g, in, d));
    if (found && !classify(g, d, table))
        d->category = piece_is(piece_of(d->type), "panic") ? CATEGORY_RUNTIME : CATEGORY_COMPILE;
    return found;
}

static void advise_rust(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    advise_by(g, in, d, table);
    struct match m;
    struct piece line = line_at(in, d);
    if (d->category == CATEGORY_SYNTAX && line.at && d->n_suggestions == 1 &&
        match(g, "expected .*`;`", piece_of(d->message), &m)) {
        struct match end;
        if (match(g, "^(.*[^;{\\s])\\s*$", line, &end))
            suggest_replacement(d, "%.*s;", SAID(&end, 0));
    }
    if (d->type[0] == 'E' && d->type[1] == '0' && !d->docs[0])
        (void)snprintf(d->docs, sizeof d->docs, CODE "%.8s.html", d->type);
}

const struct grammar grammar_rust = { .name = "rust", .read = read_rust, .advise = advise_rust };

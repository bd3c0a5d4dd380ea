/* Reads the errors of rustc, and panics in both of their forms. Runs in: keeper. */
#include "diagnose/rust/rust.h"

#include <stdio.h>
#include <string.h>

#define CODE "https://doc.rust-lang.org/error_codes/"

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

/* " --> main.rs:3:9" below an error: the first place in the job's files, or else the first of all.
 * True for a place in the job's files; *rest is then behind its line. */
static bool read_arrow(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                       struct place_in_code *ret)
{
    struct piece line;
    struct match m;
    while (next_line(rest, &line) && !match(g, "^(?:error|warning)", line, &m)) {
        struct place_in_code p;
        if (!match(g, "^\\s*(?:-->|:::) (.+):(\\d+):(\\d+)$", line, &m))
            continue;
        bool users = set_place(in, &p, m.group[0], m.group[1], m.group[2]);
        if (users || ret->line == 0)
            *ret = p;
        if (users)
            return true;
    }
    return false;
}

/* Without the line that counts the errors. */
#define ERROR "^error(?:\\[(E\\d+)\\])?: (?!aborting due to|could not compile)(.*)$"

static bool next_error(struct diagnoser *g, const struct diagnose_input *in, struct piece *rest,
                       struct further_error *ret)
{
    struct match m;
    if (!match_next(g, ERROR, rest, &m))
        return false;
    COPY(m.group[0], ret->type);
    COPY(m.group[1], ret->message);
    struct piece after = *rest;
    (void)read_arrow(g, in, &after, &ret->at);
    return true;
}

/* A finding of clippy has no code: the address of its help, or the note about its level, names the lint. */
static void read_lint(struct diagnoser *g, struct piece rest, struct diagnosis *d)
{
    struct piece line;
    struct match m;
    for (unsigned n = 0; !d->type[0] && n < LINES_NEAR && next_line(&rest, &line); n++) {
        if (match(g, "^(?:error|warning)(?:\\[|:)", line, &m))
            return;
        if (match(g, "rust-clippy/\\S*index\\.html#(\\w+)", line, &m) ||
            match(g, "\\bclippy::(\\w+)", line, &m))
            (void)snprintf(d->type, sizeof d->type, "clippy %.*s", P(m.group[0]));
    }
}

static bool read_compiler(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in);
    struct match m;
    if (!match_next(g, ERROR, &rest, &m))
        return false;
    COPY(m.group[0], d->type);
    COPY(m.group[1], d->message);
    read_lint(g, rest, d);
    if (read_arrow(g, in, &rest, &d->location))
        read_underline(g, rest, d);
    read_further(g, in, next_error, d);
    return true;
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
    size_t quote = piece_find(text, "'");
    size_t from = quote < text.len ? quote + 1 : 0;
    for (unsigned n = 0; n < 200 && next_line(&rest, &line); n++) {
        if (!match(g, "', ([^\\s':]+):(\\d+):(\\d+)$", line, &m))
            continue;
        size_t end = piece_offset(text, m.all);
        if (end < from)
            return false; /* the quote that ends the message is the only one */
        set_message(d, piece_part(text, from, end - from));
        (void)set_place(in, &d->location, m.group[0], m.group[1], m.group[2]);
        read_backtrace(g, in, rest, d);
        return true;
    }
    return false;
}

/* The panic of a range names a line of the library. The location becomes the only line of the job
 * that uses a range; when several do, there is no location. */
static void place_range(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct place_in_code p = { 0 };
    struct match m;
    unsigned found = 0;
    if (in->n_sources == 0 || find_source(in, piece_of(d->location.file)))
        return;
    bool range = match(g, "range (?:end|start) index|slice index starts|byte index",
                       piece_of(d->message), &m);
    for (size_t i = 0; range && i < in->n_sources; i++) {
        struct piece rest = text_of_source(&in->sources[i]), line;
        for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++)
            if (match(g, "\\w\\[[^\\]]*\\.\\.[^\\]]*\\]", line, &m)) {
                found++;
                p.line = n;
                COPY(piece_of(in->sources[i].name), p.file);
            }
    }
    d->location = found == 1 ? p : (struct place_in_code){ 0 };
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
        struct piece panic_text = m.group[0];
        size_t skip = piece_offset(line, panic_text);
        if (match(g, "^([^\\s':]+):(\\d+):(\\d+):$", panic_text, &m)) {
            (void)set_place(in, &d->location, m.group[0], m.group[1], m.group[2]);
            /* The message ends at the backtrace, or at the note about it. */
            struct piece below = rest;
            size_t end = 0;
            while (next_line(&rest, &line) && !starts_with(line, "note: ") &&
                   !starts_with(line, "stack backtrace:") && piece_offset(below, line) < 1000)
                end = piece_end(below, line);
            set_message(d, piece_cut(below, end));
            read_backtrace(g, in, rest, d);
        } else if (!read_old_panic(g, in, piece_skip(piece_through(line, rest), skip), d)) {
            set_message(d, panic_text);
        }
        place_range(g, in, d);
        /* For a panic inside the library, the location is the caller in the job's files. */
        if (d->n_frames > 0 && d->frames[0].user && !find_source(in, piece_of(d->location.file)) &&
            in->n_sources > 0)
            d->location = d->frames[0].at;
        return true;
    }
    return false;
}

/* "Error: ParseIntError { kind: InvalidDigit }": main returned an Err. */
static bool read_returned(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct match m;
    struct piece line = last_words(in);
    bool returned = match(g, "^Error: (.*)$", line, &m);
    return read_exit(g, in, d, returned ? m.group[0] : line, returned, rust_rules);
}

static bool read_rust(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    bool found = (!in->compiling && read_panic(g, in, d)) ||
                 ((in->compiling || !in->evidence) && read_compiler(g, in, d)) ||
                 (failed_by_itself(in) && read_returned(g, in, d));
    if (found && !classify(g, d, rust_rules))
        d->category = failed_by_itself(in) || piece_is(piece_of(d->type), "panic")
                          ? CATEGORY_RUNTIME
                          : CATEGORY_COMPILE;
    return found;
}

static void advise_rust(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    if (d->category == CATEGORY_SYNTAX && advise_fence(in, d))
        return;
    advise_by(g, in, d, rust_rules);
    struct match m;
    struct piece line = line_at(in, d);
    if (d->category == CATEGORY_SYNTAX && line.at && d->n_suggestions == 1 &&
        match(g, "expected .*`;`", piece_of(d->message), &m)) {
        struct match end;
        if (match(g, "^(.*[^;{\\s])\\s*$", line, &end))
            suggest_replacement(d, "%.*s;", P(end.group[0]));
    }
    if (d->type[0] == 'E' && d->type[1] == '0' && !d->docs[0])
        (void)snprintf(d->docs, sizeof d->docs, CODE "%.8s.html", d->type);
}

const struct grammar grammar_rust = { .name = "rust", .read = read_rust, .advise = advise_rust };

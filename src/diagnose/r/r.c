/* R: reads and explains "Error in CALL : message". R names the call and not the line; the line is
 * searched in the source. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/core/rules.h"
#include "diagnose/r.words.h" /* generated */

#define Q "(?:['\"`]|\xE2\x80\x98|\xE2\x80\x99)"

/* ---- the rules ---- */

static void advise_name(const struct advice *a)
{
    struct piece name = a->m.group[0];
    point_at(a->in, a->d, name);
    if (advise_own_name(a, "R", name, foreign))
        return;
    advise_nearest(a);
    if (a->d->n_suggestions == 0)
        suggest(a->d, 0, 0.5,
                "Give `%.*s` a value before it is used, or put it in quotes if it is a string.",
                P(name));
}

static void advise_function(const struct advice *a)
{
    struct piece name = a->m.group[0];
    const char *package = word_with(packages, name);
    if (package) {
        suggest(a->d, 0, 0.9,
                "`%.*s` is in the package %s: call library(%s) first, if the package is installed.",
                P(name), package, package);
        suggest_replacement(a->d, "library(%s)", package);
        return;
    }
    advise_name(a);
}

static void advise_unused(const struct advice *a)
{
    char best[128];
    if (a->m.group[0].at && similar_name(a->in, a->m.group[0], NULL, best, sizeof best)) {
        suggest(a->d, 10, 0.9, "The function has no parameter `%.*s`: did you mean `%s`?",
                P(a->m.group[0]), best);
        (void)suggest_swap(a->in, a->d, a->m.group[0], best);
        return;
    }
    suggest(a->d, 10, 0.85, "The function has no parameter for `%.*s`: remove it.",
            P(a->m.group[a->m.group[0].at ? 0 : 1]));
}

static void advise_syntax(const struct advice *a)
{
    struct piece line = a->line;
    struct match c;
    unsigned depth = 0, closed = 0;
    uint32_t open = unclosed(a->file, '(', ')');
    for (size_t i = 0; i < line.len; i++) {
        depth += piece_byte(line, i) == '(';
        closed += piece_byte(line, i) == ')';
    }
    if (piece_is(a->m.group[0], "'{'") && depth > closed &&
        match(a->g, "^(.*?) *\\{(.*)$", line, &c)) {
        suggest(a->d, 0, 0.85, "A `(` on this line is not closed before the `{`: add `)`.");
        suggest_replacement(a->d, "%.*s) {%.*s", P(c.group[0]), P(c.group[1]));
    } else if (piece_is(a->m.group[0], "'else'")) {
        suggest(a->d, 0, 0.9,
                "At the top level a complete line ends the `if`: put `} else {` on one line.");
        suggest_replacement(a->d, "} else {");
    } else if (open > 0 && open < a->d->location.line) {
        suggest(a->d, 0, 0.85, "The `(` on line %u has no `)` before this line: add it.", open);
    } else if (depth != closed) {
        suggest(a->d, 0, 0.7,
                "The brackets of this line do not match, %u open and %u close: correct them.",
                depth, closed);
    } else {
        suggest(a->d, 0, 0.5, "An operator, a comma or a bracket is missing before %.*s: add it.",
                P(a->m.group[0]));
    }
}

static void advise_end(const struct advice *a)
{
    advise_brace(a);
    const struct source_file *f = a->file;
    uint32_t line = a->d->n_suggestions ? 0 : unclosed(f, '(', ')');
    if (line)
        suggest(a->d, 0, 0.85, "The `(` on line %u has no `)`: add it.", line);
}

#include "diagnose/r.rules.h" /* generated */

/* ---- reading ---- */

/* Removes blanks: R formats calls in its own way. */
static size_t squeeze(struct piece text, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len && n + 1 < size; i++)
        if (piece_byte(text, i) != ' ' && piece_byte(text, i) != '\t')
            out[n++] = piece_byte(text, i) == '\'' ? '"' : piece_byte(text, i);
    out[n] = '\0';
    return n;
}

static bool find_line(const struct diagnose_input *in, struct diagnosis *d, struct piece wanted,
                      bool last)
{
    char needle[200], hay[1024];
    bool found = false;
    if (squeeze(wanted, needle, sizeof needle) == 0)
        return false;
    for (size_t i = 0; i < in->n_sources && !(found && !last); i++) {
        struct piece rest = text_of_source(&in->sources[i]), line;
        for (uint32_t n = 1; next_line(&rest, &line); n++) {
            (void)squeeze(line, hay, sizeof hay);
            if (hay[0] == '#' || !strstr(hay, needle))
                continue;
            d->location = (struct place_in_code){ .line = n };
            COPY(piece_of(in->sources[i].name), d->location.file);
            found = true;
            if (!last)
                break;
        }
    }
    return found;
}

/* The innermost of "load -> read.csv -> read.table" that the job calls itself. */
static bool find_inner_call(const struct diagnose_input *in, struct piece calls,
                            struct diagnosis *d)
{
    while (calls.len > 0) {
        size_t from = calls.len;
        while (from > 0 && piece_byte(calls, from - 1) != ' ')
            from--;
        char name[100], opened_call[112];
        copy_piece(piece_skip(calls, from), name, sizeof name - 1);
        (void)snprintf(opened_call, sizeof opened_call, "%s(", name);
        /* A definition has "<-" behind the name, not '('. */
        if (name[0] && strcmp(name, "->") != 0 && find_line(in, d, piece_of(opened_call), false))
            return true;
        calls = piece_cut(calls, from > 0 ? from - 1 : 0);
    }
    return false;
}

/* Searches the call, then the calls of "Calls: read.csv -> read.table", then the function's
 * name. */
static void find_call(struct diagnoser *g, const struct diagnose_input *in, struct piece call,
                      struct diagnosis *d)
{
    struct match m;
    char name[100];
    if (call.at && find_line(in, d, call, false)) {
        point_at(in, d, call);
        return;
    }
    /* "`[.data.frame`(d, i, j)" is d[i, j]. */
    if (call.at && match(g, "^`\\[+[\\w.]*`\\([^,]+, (.+)\\)$", call, &m) &&
        find_line(in, d, m.group[0], false))
        return;
    if (match_text(g, "^Calls: (.*)$", text_of(in), &m) && find_inner_call(in, m.group[0], d))
        return;
    if (match_text(g, "^Calls: (?:<Anonymous> -> )?([\\w.]+)", text_of(in), &m) ||
        (call.at && match(g, "^([\\w.]+)\\(", call, &m))) {
        (void)snprintf(name, sizeof name, "%.*s(", P(piece_cut(m.group[0], 90)));
        (void)find_line(in, d, piece_of(name), false);
    }
}

static void read_calls(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct match m;
    if (!match_text(g, "^Calls: (.*)$", text_of(in), &m))
        return;
    struct piece rest = m.group[0];
    for (unsigned n = 0; n < DIAGNOSE_FRAMES && rest.len > 0; n++) {
        size_t end = piece_find(rest, " -> ");
        add_frame(in, d, NO_PIECE, NO_PIECE, NO_PIECE, piece_cut(rest, end));
        rest = piece_skip(rest, end + 4);
    }
}

/* "unexpected '{' in "for (v in values {"": the quotes hold the statement up to the error. */
static void find_syntax(struct diagnoser *g, const struct diagnose_input *in, struct piece rest,
                        struct diagnosis *d)
{
    struct match m;
    struct piece line, last = NO_PIECE;
    const char *main_name = in->main_name ? in->main_name : "";
    if (match(g, "^([^\\s:]+):(\\d+):(\\d+): ", piece_of(d->message), &m)) {
        (void)set_place(in, &d->location, m.group[0], m.group[1], m.group[2]);
        return;
    }
    if (match(g, " in \"(.*)\"$", piece_of(d->message), &m)) {
        last = m.group[0];
    } else if (match(g, " in:$", piece_of(d->message), &m)) {
        while (next_line(&rest, &line) && !starts_with(line, "Execution halted"))
            last = line;
        if (last.len > 0 && piece_last(last) == '"')
            last.len--;
        if (last.len > 0 && piece_byte(last, 0) == '"')
            last = piece_skip(last, 1);
    }
    if (last.len > 0 && find_line(in, d, last, true))
        return;
    const struct source_file *f = find_source(in, piece_of(main_name));
    if (!f || !piece_has(piece_of(d->message), "end of input"))
        return;
    struct piece text = text_of_source(f);
    uint32_t n = 0;
    COPY(piece_of(f->name), d->location.file);
    while (next_line(&text, &line)) {
        n++;
        if (piece_trim(line).len > 0)
            d->location.line = n;
    }
}

/* R evaluates an argument at its first use. The location is the line with the missing name, not the
 * line that uses the argument. */
static void find_object(const struct diagnose_input *in, struct diagnosis *d, struct piece name)
{
    if (has_word(line_at(in, d), name))
        return;
    for (size_t i = 0; i < in->n_sources; i++) {
        uint32_t line = line_with_word(&in->sources[i], name, 1);
        if (line == 0)
            continue;
        d->location = (struct place_in_code){ .line = line };
        COPY(piece_of(in->sources[i].name), d->location.file);
        return;
    }
}

/* Finds the stop() with this message, by the beginning of its text. */
static void find_stop(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    for (size_t i = 0; i < in->n_sources; i++) {
        struct piece rest = text_of_source(&in->sources[i]), line;
        struct match m;
        for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++) {
            char beginning[160];
            if (!match(g, "\\bstop\\((?:\\w+\\()?[\"']([^\"'%\\\\]{3,})", line, &m))
                continue;
            COPY(m.group[0], beginning);
            if (!piece_has(piece_of(d->message), beginning))
                continue;
            d->location = (struct place_in_code){ .line = n };
            COPY(piece_of(in->sources[i].name), d->location.file);
            point_at(in, d, PIECE("stop"));
            return;
        }
    }
}

static bool read_r(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line, call = NO_PIECE, next = NO_PIECE;
    struct match m;
    bool found = false;
    for (unsigned n = 0; n < LINES_SEEN && !found && next_line(&rest, &line); n++) {
        if (match(g, "^Error in (.*?) ?: ?$", line, &m)) {
            call = m.group[0];
            found = next_line(&rest, &next);
            COPY(piece_trim(next), d->message);
        } else if (match(g, "^Error in (.*?) : (.*)$", line, &m)) {
            call = m.group[0];
            COPY(m.group[1], d->message);
            found = true;
        } else if (match(g, "^Error: ?(.*)$", line, &m)) {
            found = true;
            COPY(m.group[0], d->message);
        }
    }
    if (!found)
        return false;
    /* The reason is in a warning: "cannot open file 'data.csv': No such file or directory". */
    if (piece_has(piece_of(d->message), "cannot open the connection") &&
        match_text(g, "^\\s*(cannot open (?:compressed )?file '.*)$", rest, &m))
        (void)snprintf(d->message, sizeof d->message, "cannot open the connection: %.*s",
                       P(m.group[0]));
    if (!classify(g, d, rules))
        d->category = CATEGORY_RUNTIME;
    if (d->category == CATEGORY_SYNTAX)
        find_syntax(g, in, rest, d);
    else
        find_call(g, in, call, d);
    if (match(g, "object " Q "(.+?)" Q " not found", piece_of(d->message), &m))
        find_object(in, d, m.group[0]);
    if (d->category == CATEGORY_RUNTIME)
        find_stop(g, in, d);
    read_calls(g, in, d);
    return true;
}

static void advise_r(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    advise_by(g, in, d, rules);
}

const struct grammar grammar_r = { .name = "r", .read = read_r, .advise = advise_r };

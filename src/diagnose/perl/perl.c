/* Perl: reads and explains errors of the form "message at FILE line N." Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/core/rules.h"
#include "diagnose/perl.words.h" /* generated */

/* ---- the rules ---- */

static void advise_variable(const struct advice *a)
{
    struct piece sigil = a->m.group[0], name = a->m.group[1], line = a->line;
    char best[128];
    struct match c;
    if (similar_name(a->in, name, NULL, best, sizeof best)) {
        suggest(a->d, 0, 0.85, "Did you mean `%.*s%s`? `%.*s%.*s` is not declared.", P(sigil), best,
                P(sigil), P(name));
        (void)suggest_swap(a->in, a->d, name, best);
        return;
    }
    suggest(a->d, 0, 0.8,
            "The variable is not declared: declare it at its first value, `my %.*s%.*s`.", P(sigil),
            P(name));
    if (match(a->g, "^(\\s*)([$@%]\\w+\\s*=.*)$", line, &c))
        suggest_replacement(a->d, "%.*smy %.*s", P(c.group[0]), P(c.group[1]));
}

static void advise_module(const struct advice *a)
{
    struct piece path = a->m.group[0];
    char name[128] = "", file[140], best[256];
    size_t n = 0;
    for (size_t i = 0; i < path.len && n + 3 < sizeof name; i++) {
        if (piece_byte(path, i) == '/') {
            name[n++] = ':';
            name[n++] = ':';
        } else {
            name[n++] = piece_byte(path, i);
        }
    }
    name[n] = '\0';
    (void)snprintf(file, sizeof file, "%.*s.pm", P(piece_cut(path, 130)));
    if (find_source(a->in, piece_of(file))) {
        suggest(a->d, 0, 0.9,
                "%s is a file of the job: write `use lib '.';` before, so that Perl looks there.",
                file);
        suggest_replacement(a->d, "use lib '.';");
        return;
    }
    if (similar_file(a->in, piece_of(file), best, sizeof best)) {
        best[strcspn(best, ".")] = '\0';
        suggest(a->d, 0, 0.85, "Did you mean `%s`? The job has no %s.", best, file);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(modules); i++)
        if (strcmp(modules[i].module, name) == 0) {
            suggest(a->d, 0, 0.85, "%s is not installed here (on Debian it is in %s)%s%s%s.", name,
                    modules[i].package, modules[i].instead ? "; Perl comes with " : "",
                    modules[i].instead ? modules[i].instead : "",
                    modules[i].instead ? ", which is similar" : "");
            if (modules[i].instead)
                (void)suggest_swap(a->in, a->d, piece_of(name), modules[i].instead);
            return;
        }
    suggest(a->d, 0, 0.7,
            "The module %s is not installed here: use Perl's own modules, or send %s with the job.",
            name, file);
}

static void advise_syntax(const struct advice *a)
{
    struct match c;
    if (match(a->g, "^\\s*\\}?\\s*(elseif|else if|elif)\\b", a->line, &c)) {
        suggest(a->d, 0, 0.9, "In Perl the word is `elsif`, not `%.*s`.", P(c.group[0]));
        (void)suggest_swap(a->in, a->d, c.group[0], "elsif");
        return;
    }
    advise_semicolon(a);
}

static void advise_subroutine(const struct advice *a)
{
    const char *module = word_with(exporters, a->m.group[0]);
    if (!module) {
        advise_nearest(a);
        return;
    }
    suggest(a->d, 0, 0.93, "`%.*s` is in the module %s: import it at the top.", P(a->m.group[0]),
            module);
    suggest_replacement(a->d, "use %s qw(%.*s);", module, P(a->m.group[0]));
}

#include "diagnose/perl.rules.h" /* generated */

/* ---- reading ---- */

#define PLACE                                                                                  \
    " at (\\S+|\\(eval \\d+\\)|-e) line (\\d+)(?:, (?:near|at|<[^>]*>|within) ?.*?)?\\.?(?:, " \
    ".*)?$"

static bool is_aftermath(struct piece line)
{
    return starts_with(line, "BEGIN failed") || starts_with(line, "Compilation failed") ||
           starts_with(line, "Execution of") || piece_has(line, "had compilation errors") ||
           piece_has(line, "had too many errors");
}

static bool is_warning(struct diagnoser *g, struct piece line)
{
    struct match m;
    return match(g,
                 "^(?:Use of uninitialized|Argument \".*\" isn't numeric|Name \".*\" used only "
                 "once|Useless use|Subroutine \\S+ redefined|\"my\" variable|Scalar value|Odd "
                 "number|Deep recursion|Possible|Found = in|Unquoted string|Statement "
                 "unlikely|Bareword found|Number found|String found|\\(Missing)",
                 line, &m);
}

static void read_message(struct diagnoser *g, const struct diagnose_input *in, struct piece line,
                         struct diagnosis *d)
{
    struct match m, near;
    if (!match(g, "^(.*?)" PLACE, line, &m))
        return;
    COPY(m.group[0], d->message);
    (void)set_place(in, &d->location, m.group[1], m.group[2], NO_PIECE);
    if (match(g, "line \\d+, (near .*|at end of line|at EOF)", line, &near)) {
        size_t used = strlen(d->message);
        (void)snprintf(d->message + used, sizeof d->message - used, ", %.*s", P(near.group[0]));
    }
}

/* The frames of Carp: "\tmain::load("colour") called at main.pl line 7", and the line that loads a
 * file that does not compile. */
static void read_calls(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line;
    struct match m;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++)
        if (match(g, "^\\s+(\\S.*?)(?:\\(.*\\))? called at (\\S+) line (\\d+)", line, &m) ||
            match(g, "^Compilation failed in (\\w+) at (\\S+) line (\\d+)", line, &m))
            add_frame(in, d, m.group[1], m.group[2], NO_PIECE, m.group[0]);
}

static bool read_perl(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = text_of(in), line, first = NO_PIECE, last = NO_PIECE, warned = NO_PIECE;
    struct match m;
    bool compiling = false;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&rest, &line); n++) {
        if (is_aftermath(line)) {
            compiling = true;
            continue;
        }
        if (!piece_has(line, " line ") || starts_with(line, "\t") ||
            !match(g, "^.+?" PLACE, line, &m))
            continue;
        if (is_warning(g, line)) {
            warned = line;
            continue;
        }
        if (!first.at)
            first = line;
        last = line;
    }
    struct piece best = compiling ? first : last;
    if (!best.at)
        best = warned;
    if (!best.at)
        return false;
    read_message(g, in, best, d);
    if (!d->message[0])
        return false;
    if (!classify(g, d, rules))
        d->category = CATEGORY_RUNTIME;
    read_calls(g, in, d);
    /* Perl guesses the line where the unclosed string begins. */
    if (d->category == CATEGORY_SYNTAX &&
        match_text(g,
                   "^ *\\(Might be a runaway multi-line (\\S+) string starting on line (\\d+)\\)",
                   text_of(in), &m)) {
        d->location.line = piece_number(m.group[1]);
        (void)snprintf(d->message, sizeof d->message,
                       "Can't find string terminator '%c' anywhere before EOF",
                       piece_byte(m.group[0], 0));
        return true;
    }
    if (starts_with(piece_of(d->message), "syntax error"))
        go_back_to_statement(in, d);
    return true;
}

static void advise_perl(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    advise_by(g, in, d, rules);
}

const struct grammar grammar_perl = { .name = "perl", .read = read_perl, .advise = advise_perl };

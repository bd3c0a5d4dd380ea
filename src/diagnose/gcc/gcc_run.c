/* Rules for C and C++: errors of running programs. Runs in: keeper. */
#include <string.h>

#include "diagnose/gcc/gcc.h"

const char gcc_sanitizers[] =
    "Run it again with the sanitizers, which name the line: --compiler-arg -fsanitize=address "
    "--compiler-arg -g on the command line, \"compiler_args\": [\"-fsanitize=address\", \"-g\"] "
    "in a request.";

static void advise_segfault(const struct advice *a)
{
    if (!endless_recursion(a->g, a->in, a->d))
        (void)gcc_explain_crash(a);
    suggest(a->d, 38, 0.8, "%s", gcc_sanitizers);
}

static void advise_divided(const struct advice *a)
{
    struct match c = { 0 };
    struct place_in_code p = { 0 };
    unsigned found = 0;
    char divisor[64] = "";
    for (size_t i = 0; i < a->in->n_sources; i++) {
        struct piece rest = text_of_source(&a->in->sources[i]), line;
        for (uint32_t n = 1; n < LINES_SEEN && next_line(&rest, &line); n++) {
            if (starts_with(piece_trim(line), "//") ||
                !match(a->g, "[\\w)\\]] [/%] ([a-z_A-Z]\\w*)|[\\w)\\]]\\s*[/%]=\\s*([a-z_A-Z]\\w*)",
                       line, &c))
                continue;
            found++;
            p.line = n;
            COPY(piece_of(a->in->sources[i].name), p.file);
            COPY(c.group[0].at ? c.group[0] : c.group[1], divisor);
        }
    }
    /* Only one line divides. */
    if (found == 1 && a->d->location.line == 0) {
        a->d->location = p;
        point_at(a->in, a->d, piece_of(divisor));
    }
    if (found == 1)
        suggest(a->d, 15, 0.85, "Line %u of %s divides by `%s`: check that it is not zero before.",
                p.line, p.file, divisor);
    else
        suggest(a->d, 15, 0.7,
                "Check that the divisor is not zero before dividing integers by it.");
}

static void advise_abort(const struct advice *a)
{
    struct piece output = last_words(a->in);
    if (output.at)
        suggest(a->d, 0, 0.6,
                "The program called abort(), most likely where it printed this: `%.*s`.",
                P(piece_cut(output, 160)));
}

/* size_t at = text.find('@'); text.substr(at) */
static void advise_position(const struct advice *a)
{
    struct source_lines s = { .in = a->in };
    struct match set, use;
    while (next_source_line(&s)) {
        if (!match(a->g, "\\b(\\w+)\\s*(?:=|\\{|\\()\\s*[\\w.>\\[\\]-]+(?:\\.|->)(r?find\\w*)\\(",
                   s.line, &set))
            continue;
        for (uint32_t n = s.number + 1; n < s.number + BLANKS_NEAR; n++) {
            struct piece line = source_line(s.file, n);
            if (starts_with(line, "}") || (piece_has(line, "npos") && has_word(line, set.group[0])))
                break;
            if (!match(a->g, "\\.(substr|at|erase|insert|replace)\\(\\s*(\\w+)\\s*[,)]", line,
                       &use) ||
                !piece_same(use.group[1], set.group[0]))
                continue;
            if (a->d->location.line == 0)
                set_location(a->d, s.file->name, n);
            suggest(a->d, 38, 0.94,
                    "%.*s() in line %u found nothing and returned std::string::npos, and line %u "
                    "passes it to %.*s(): test `%.*s != std::string::npos` before.",
                    P(set.group[1]), s.number, n, P(use.group[0]), P(set.group[0]));
            return;
        }
    }
}

#include "diagnose/gcc_run.rules.h" /* generated */

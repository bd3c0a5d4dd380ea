/* Rules for C and C++: errors of running programs. Runs in: keeper. */
#include <string.h>

#include "diagnose/gcc/gcc.h"

#define SANITIZERS                                                                                \
    "Run it again with the sanitizers, which name the line: --compiler-arg -fsanitize=address "   \
    "--compiler-arg -g on the command line, \"compiler_args\": [\"-fsanitize=address\", \"-g\"] " \
    "in a "                                                                                       \
    "request."

static void advise_segfault(const struct advice *a)
{
    if (!endless_recursion(a->g, a->in, a->d))
        (void)gcc_explain_crash(a);
    suggest(a->d, 38, 0.8, "%s", SANITIZERS);
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

#include "diagnose/gcc_run.rules.h" /* generated */

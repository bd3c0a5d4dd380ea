/* Prints the sentence about the end of a run, from the tables of verdicts and limits. */
#include "cli/run/end_note.h"

#include <stdio.h>

#include "base/text.h"

static void print_limit_of_stage(enum limit_id id, const struct end_note *n)
{
    const struct limit_def *d = &limit_defs[id];
    char what[96];
    (void)fprintf(stderr, "belljar: %s: stage '%s' %s; ", verdict_word(n->verdict),
                  QUOTED(n->stage), limit_exceeded(id, &n->limits, what, sizeof what));
    if (n->stage_in_file)
        (void)fprintf(stderr, "\"limits\": {\"%s\": %s} of the stage gives it more\n", d->key,
                      d->metavar);
    else
        (void)fprintf(stderr, "--stage-limit %s=%s behind it gives it more\n", d->option,
                      d->metavar);
}

static void print_limit(enum limit_id id, const struct end_note *n)
{
    bool compiling = n->verdict == VERDICT_COMPILE_ERROR;
    const struct limit_def *d = &limit_defs[id];
    char what[96];
    (void)fprintf(stderr, "belljar: %s: %s %s; --%s%s%s%s gives it more\n",
                  verdict_word(n->verdict), compiling ? "the compiler" : "it",
                  limit_exceeded(id, &n->limits, what, sizeof what),
                  compiling ? "compile-limit " : "", d->option, compiling ? "=" : " ", d->metavar);
}

void end_note_print(const struct end_note *n)
{
    bool compiling = n->verdict == VERDICT_COMPILE_ERROR;
    enum limit_id limit = verdict_limit(compiling ? n->compiler : n->verdict, n->hits);
    if (limit != LIMIT_NONE && n->stage)
        print_limit_of_stage(limit, n);
    else if (limit != LIMIT_NONE)
        print_limit(limit, n);
    else if (n->verdict == VERDICT_INTERNAL_ERROR && n->install)
        (void)fprintf(stderr, "belljar: %s: '%s' installs it\n", n->error, n->install);
    else if (n->verdict == VERDICT_INTERNAL_ERROR)
        (void)fprintf(stderr, "belljar: %s\n", n->error);
    else if (n->verdict == VERDICT_REJECTED)
        (void)fprintf(stderr, "belljar: rejected: %s\n", n->error);
    else if (n->verdict == VERDICT_CANCELLED && !n->unheard)
        (void)fprintf(stderr, "belljar: cancelled\n");
}

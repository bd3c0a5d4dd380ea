/* run/findings.h — what is found out about a run that is over, beside its result: the same for a service and for a command.
 * Runs in: keeper. */
#pragma once

#include "diagnose/core/diagnose.h"
#include "run/result.h"
#include "runtime/language.h"
#include "spec/run_options.h"
#include "spec/samples.h"

struct findings_input {
    struct diagnoser *diagnoser; /* NULL: nothing is to be explained */
    const struct language *language;
    const char *main_name;
    const struct buf *sources;   /* a bundle: the job's files; may be empty when they were large */
    const char *code;            /* the main file's text; NULL when it is not text */
    const struct buf *out, *err; /* what it printed: the beginning and the end of it */
    bool compiling;              /* the compiler failed: it is what printed that */
    const struct result *result; /* verdict, evidence, usage, limits, isolation */
    const struct run_options *options;
    struct buf *outputs;           /* a bundle; a report is taken out of it */
    const struct samples *samples; /* what it used over time; NULL: that was not asked for */
};

struct findings {
    json_t *diagnosis, *tables, *profile; /* NULL where there is nothing */
};
void findings_done(struct findings *f);

struct findings findings_make(const struct findings_input *in);

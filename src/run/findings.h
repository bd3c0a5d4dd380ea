/* run/findings.h — the diagnosis, tables and profile of a run that is over: the same in the service
 * and in a command. Runs in: keeper. */
#pragma once

#include "diagnose/core/diagnose.h"
#include "run/result.h"
#include "runtime/language.h"
#include "spec/run_options.h"
#include "spec/samples.h"

struct findings_input {
    struct diagnoser *diagnoser; /* NULL: no diagnosis */
    const struct language *language;
    const char *main_name;
    const struct buf *sources;   /* a bundle: the files of the job; empty if they were large */
    const char *code;            /* the text of the main file; NULL if it is not text */
    const struct buf *out, *err; /* the beginning and the end of its output */
    bool compiling;              /* the compiler failed, and this is its output */
    const struct result *result; /* verdict, evidence, usage, limits, isolation */
    const struct run_options *options;
    struct buf *outputs;           /* a bundle; the report is removed from it */
    const struct samples *samples; /* its usage over time; NULL: not requested */
};

struct findings {
    json_t *diagnosis, *tables, *profile; /* NULL: none */
};
void findings_done(struct findings *f);

struct findings findings_make(const struct findings_input *in);

/* examiner/findings.h — the diagnosis, tables, profile and tests of a run that is over: the same in the
 * service and in a command. Runs in: keeper. A reader does the reading. */
#pragma once

#include "examiner/answer.h"
#include "run/result.h"
#include "runtime/language.h"
#include "runtime/modules.h"
#include "spec/run_options.h"
#include "spec/samples.h"

struct findings_input {
    bool explain;  /* a diagnosis is wanted if the run failed */
    bool is_cell;  /* of a session */
    unsigned cell; /* its number there, by a guest's word; 0: not known */
    const struct language *language;
    const char *main_name;
    const struct buf *sources;   /* a bundle: the files of the job; empty if they were large */
    const char *code;            /* the text of the main file; NULL if it is not text */
    const struct buf *out, *err; /* the beginning and the end of its output */
    bool compiling;              /* the compiler failed, and this is its output */
    const struct result *result; /* verdict, evidence, usage, limits, isolation */
    const struct run_options *options;
    struct buf *outputs;    /* a bundle; the report is removed from it */
    const struct buf *told; /* the values of the variables of a cell; NULL: none */
    bool has_network;
    const char *network_advice;    /* network/advice.h; NULL: none */
    const char *network_list;      /* network_policy_text() of a list; NULL: none */
    const struct samples *samples; /* its usage over time; NULL: not requested */
};

struct findings {
    json_t *diagnosis, *tables, *profile, *displays, *tests, *check; /* NULL: none */
};
void findings_done(struct findings *f);

/* Removes the report from the outputs, and makes the question. *question stays empty if there is
 * nothing to read: the run ended well and left no report. */
[[nodiscard]] int findings_ask(const struct findings_input *in, uint64_t id, struct buf *question,
                               struct err *e);
/* For the questions of the reader. */
struct modules findings_modules(const struct findings_input *in);
/* answer NULL: there was no question, or the answer was lost. */
struct findings findings_take(const struct findings_input *in, const struct answer *answer);

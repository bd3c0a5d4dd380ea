#include "examiner/tests.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "run/diagnosis_json.h"
#include "run/tests_json.h"

/* The first failures are enough to go on, and a reader has one second. */
enum { DIAGNOSES_MAX = 100 };

static bool is_bad(const struct suite_case *c)
{
    return c->outcome == SUITE_FAILED || c->outcome == SUITE_ERROR;
}

/* A case without a place or a message gets those of its diagnosis. */
static void complete(struct suite_case *c, const struct diagnosis *d)
{
    if (!c->file && d->location.file[0]) {
        c->file = strdup(d->location.file);
        c->line = c->file ? d->location.line : 0;
    }
    if (!c->message && d->message[0])
        c->message = strndup(d->message, SUITE_MESSAGE_MAX);
    if (c->message)
        text_end_whole(c->message);
}

static json_t *explain_case(struct diagnoser *g, const struct question *q, struct suite_case *c,
                            struct diagnosis *d)
{
    struct diagnose_input in = q->input;
    in.text = c->details;
    in.len = strlen(c->details);
    in.printed = NULL;
    in.printed_len = 0;
    in.main_name = c->file;
    in.evidence = NULL; /* these are about the runner */
    in.limits = NULL;
    in.usage = NULL;
    in.verdict = VERDICT_RUNTIME_ERROR;
    if (!diagnose(g, &in, d))
        return NULL;
    complete(c, d);
    return diagnosis_json(d);
}

json_t *tests_find(struct diagnoser *g, const struct question *q, bool *ret_explained)
{
    const struct suite_runner *runner = suite_runner(q->test_runner);
    scoped(suite_report) r = { 0 };
    autofree struct diagnosis *d = malloc(sizeof *d);
    size_t explained = 0;
    if (!runner || !d)
        return NULL;
    suite_read(runner, q->input.printed ? q->input.printed : "", q->input.printed_len, &r);
    autofree json_t **diagnoses = calloc(r.n + 1, sizeof(json_t *));
    if (!diagnoses)
        return NULL;
    for (size_t i = 0; i < r.n; i++) {
        struct suite_case *c = &r.cases[i];
        *ret_explained = *ret_explained || (is_bad(c) && q->input.verdict == VERDICT_RUNTIME_ERROR);
        if (g && is_bad(c) && c->details && explained++ < DIAGNOSES_MAX)
            diagnoses[i] = explain_case(g, q, c, d);
    }
    json_t *tests = tests_json(runner, &r, diagnoses);
    for (size_t i = 0; i < r.n; i++)
        json_decref(diagnoses[i]);
    return tests;
}

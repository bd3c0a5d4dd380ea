#include "api/runs/fixes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals.h"
#include "api/kernel/core.h"
#include "api/kernel/storage.h"
#include "api/runs/fix_request.h"
#include "api/runs/second_look.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "fixes/outcome.h"
#include "run/json.h"

#define SURFACE "fix"

enum { TRIES_MAX = FIXES_MAX + 1 }; /* the last one is the program as it was */

struct fixing;
struct fix_try {
    struct run_watch watch; /* first */
    struct fixing *owner;
    struct run *run; /* while it is in flight */
    bool is_control; /* the program as it was */
    bool is_look;    /* the same, with a profiler or a trace */
    struct fix fix;
    json_t *json; /* of a candidate: its object in the answer */
    enum fix_outcome outcome;
};

struct fixing {
    uv_timer_t timer;
    struct api *api;
    struct run *run; /* the failed one */
    struct run_error error;
    struct fix_try tries[TRIES_MAX];
    unsigned n, in_flight, busy;
    bool control_ok;
    uint64_t began_us;
};

/* ---- the answer ---- */

static json_t *diagnosis_of(const struct run *run)
{
    return json_object_get(run->result_json, "diagnosis");
}

/* Texts are those of the diagnosis. */
static struct run_error error_of(const struct run *run)
{
    const json_t *d = diagnosis_of(run), *at = json_object_get(d, "location");
    return (struct run_error){ .verdict = run->result.verdict,
                               .type = json_find_text(d, "type"),
                               .message = json_find_text(d, "message"),
                               .file = json_find_text(at, "file"),
                               .line = (uint32_t)json_integer_value(json_object_get(at, "line")) };
}

static json_t *error_json(const struct run_error *e)
{
    return json_pack("{s:s?, s:s?, s:s?, s:o}", "type", e->type, "message", e->message, "file",
                     e->file, "line", e->line ? json_integer(e->line) : json_null());
}

/* A suggestion has the best outcome of its candidates. A line that changes nothing is no longer
 * offered. */
static void mark_suggestion(const struct fixing *f, size_t i, json_t *s)
{
    enum fix_outcome best = FIX_OUTCOME_COUNT_;
    for (unsigned k = 0; k < f->n; k++) {
        const struct fix_try *t = &f->tries[k];
        if (t->json && (size_t)json_integer_value(json_object_get(t->json, "suggestion")) == i &&
            t->outcome < best)
            best = t->outcome;
    }
    if (best == FIX_OUTCOME_COUNT_)
        return;
    json_put(s, "outcome", json_string(fix_outcome_word(best)));
    if (best == FIX_NO_CHANGE) {
        (void)json_object_del(s, "replacement");
        (void)json_object_del(s, "action");
    }
}

static void put_answer(struct run *run, const char *reason, json_t *list, json_t *best,
                       uint64_t began_us)
{
    json_put(run->result_json, "fixes",
             json_pack("{s:o, s:s?, s:f, s:o}", "best", best ? best : json_null(), "reason", reason,
                       "wall_ms", began_us ? (double)(clock_us() - began_us) / 1000 : 0.0,
                       "candidates", list ? list : json_array()));
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* Every try is over. */
static void conclude(struct fixing *f)
{
    json_t *list = json_array(), *best = NULL;
    struct run *run = f->run;
    for (unsigned i = 0; i < f->n; i++) {
        struct fix_try *t = &f->tries[i];
        if (!t->json)
            continue;
        if (t->outcome == FIX_CURES && f->control_ok)
            t->outcome = FIX_UNSTEADY;
        if (t->outcome == FIX_CURES && !best)
            best = json_integer((json_int_t)json_array_size(list));
        json_put(t->json, "outcome", json_string(fix_outcome_word(t->outcome)));
        (void)json_array_append(list, t->json);
    }
    size_t k;
    json_t *s;
    json_array_foreach(json_object_get(diagnosis_of(run), "suggestions"), k, s)
        mark_suggestion(f, k, s);
    put_answer(run, NULL, list, best, f->began_us);
    for (unsigned i = 0; i < f->n; i++) {
        fix_done(&f->tries[i].fix);
        json_decref(f->tries[i].json);
    }
    uv_close((uv_handle_t *)&f->timer, on_timer_closed);
    run->aftermath = NULL;
    run_explained(run);
}

static void advance(struct fixing *f)
{
    if (f->busy == 0 && f->in_flight == 0)
        conclude(f);
}

/* ---- running ---- */

static void not_tried(struct fix_try *t, const char *reason)
{
    t->outcome = FIX_NOT_TRIED;
    if (t->json)
        json_put(t->json, "reason", json_string(reason));
}

static void take_result(struct fix_try *t, const struct run *x)
{
    const struct fixing *f = t->owner;
    struct run_error after = error_of(x);
    if (t->is_look) {
        look_take(f->run, x);
        return;
    }
    if (t->is_control) {
        t->owner->control_ok = x->result.verdict == VERDICT_OK;
        return;
    }
    t->outcome = fix_outcome(&f->error, &after, t->fix.line, t->fix.added);
    json_put(t->json, "run_id", json_string(x->id));
    json_put(t->json, "verdict", json_string(verdict_word(x->result.verdict)));
    json_put(t->json, "wall_ms", json_real((double)x->result.usage.wall_us / 1000));
    if (t->outcome == FIX_NOT_TRIED)
        json_put(t->json, "reason",
                 x->result.verdict == VERDICT_CANCELLED
                     ? json_sprintf("it was not over after %d s, or a client cancelled it",
                                    FIXES_MS / 1000)
                     : json_string(x->result.error ? x->result.error : "it did not run"));
    else if (json_is_object(diagnosis_of(x)))
        json_put(t->json, "error", error_json(&after));
}

static void on_run_event(struct run_watch *w, struct run *x, enum run_event event)
{
    struct fix_try *t = (struct fix_try *)w;
    struct fixing *f = t->owner;
    if (event != RUN_EVENT_DONE)
        return;
    f->busy++;
    f->in_flight--;
    t->run = NULL;
    if (x->record_err.code != ERR_NONE)
        not_tried(t, ERR_SHOWN(&x->record_err));
    else
        take_result(t, x);
    run_watch_remove(x, w);
    f->busy--;
    advance(f);
}

static void on_time(uv_timer_t *timer)
{
    struct fixing *f = (struct fixing *)timer;
    f->busy++;
    for (unsigned i = 0; i < f->n; i++)
        if (f->tries[i].run)
            run_cancel(f->tries[i].run);
    f->busy--;
    advance(f);
}

/* Takes over the spec. Nobody is asked for an approval (FIXES-1). */
static int submit(struct fix_try *t, struct run_spec *spec, const char *mode, struct err *e)
{
    struct api *api = t->owner->api;
    struct admission admission = { 0 };
    spec->batch = strdup(t->owner->run->id);
    int refused = spec->batch
                      ? storage_check(api, e) || approvals_admit(api, spec, mode, &admission, e)
                      : err_no_memory(e, "a try");
    if (!refused && admission.kind != ADMISSION_GRANTED)
        refused = err_set(e, ERR_DENIED, 0, "%s", admission.reason);
    if (refused) {
        run_spec_done(spec);
        return -1;
    }
    t->watch.on_event = on_run_event;
    return engine_submit(api->engine, spec, 0, NULL, &t->watch, &t->run, e);
}

static void start(struct fix_try *t, const char *file, const char *text, size_t len)
{
    struct fixing *f = t->owner;
    struct err e = { 0 };
    struct run_spec spec = { 0 };
    const char *mode = NULL;
    json_auto_t *request = fix_request_of(f->run, file, text, len, &mode, &e);
    if (request && t->is_look)
        look_change(f->run, request);
    if (!request || fix_request_spec(f->api, f->run, request, SURFACE, &spec, &e) ||
        submit(t, &spec, mode, &e)) {
        not_tried(t, ERR_SHOWN(&e));
        return;
    }
    f->in_flight++;
}

/* ---- candidates ---- */

/* A change at one of its places. */
static void add_candidate(struct fixing *f, size_t i, const struct fix_request *q)
{
    struct err e = { 0 };
    struct fix_try *t = &f->tries[f->n++];
    *t = (struct fix_try){ .owner = f, .outcome = FIX_NOT_TRIED };
    t->json = json_pack("{s:I, s:s, s:n, s:s?, s:n, s:s, s:s, s:n, s:n, s:n, s:n, s:n}",
                        "suggestion", (json_int_t)i, "outcome", "not_tried", "reason", "file",
                        q->file, "line", "action", q->inserts ? "insert" : "replace", "replacement",
                        q->replacement, "diff", "run_id", "verdict", "wall_ms", "error");
    if (!q->text) {
        not_tried(t, "the place of the error is in no file of the request");
        return;
    }
    if (fix_make(q, &t->fix, &e)) {
        not_tried(t, ERR_SHOWN(&e));
        return;
    }
    json_put(t->json, "line", json_integer(t->fix.line));
    json_put(t->json, "diff", json_stringn(buf_str(&t->fix.diff), t->fix.diff.len));
    start(t, q->file, buf_str(&t->fix.text), t->fix.text.len);
}

static void add_candidates(struct fixing *f, size_t i, const json_t *s)
{
    const char *action = json_find_text(s, "action");
    struct fix_request q = { .language = f->run->spec.language->name,
                             .file = f->error.file,
                             .line = f->error.line,
                             .replacement = json_find_text(s, "replacement"),
                             .inserts = action && strcmp(action, "insert") == 0 };
    struct fix_place places[FIX_PLACES] = { { q.line, q.inserts } };
    if (!q.replacement)
        return;
    size_t n = q.file && fix_source(f->run, q.file, &q.text, &q.len) ? fix_places(&q, places) : 1;
    for (size_t k = 0; k < n && f->n < TRIES_MAX - 1; k++) {
        q.line = places[k].line;
        q.inserts = places[k].inserts;
        add_candidate(f, i, &q);
    }
}

/* An error of syntax or of the compiler is there each time. */
static bool may_be_unsteady(const struct run *run)
{
    const char *category = json_find_text(diagnosis_of(run), "category");
    return run->result.verdict != VERDICT_COMPILE_ERROR && category &&
           strcmp(category, "syntax") != 0;
}

static void begin_tries(struct fixing *f)
{
    size_t i;
    json_t *s;
    f->busy++;
    json_array_foreach(json_object_get(diagnosis_of(f->run), "suggestions"), i, s)
        add_candidates(f, i, s);
    if (f->in_flight > 0 && may_be_unsteady(f->run)) {
        struct fix_try *t = &f->tries[f->n++];
        *t = (struct fix_try){ .owner = f, .is_control = true };
        start(t, NULL, NULL, 0);
    }
    if (look_helps(f->run) && f->n < TRIES_MAX) {
        struct fix_try *t = &f->tries[f->n++];
        *t = (struct fix_try){ .owner = f, .is_look = true };
        start(t, NULL, NULL, 0);
    }
    (void)uv_timer_start(&f->timer, on_time, FIXES_MS, 0);
    f->busy--;
    advance(f);
}

static void begin(struct run_aftermath *a, struct run *run)
{
    struct api *api = *(struct api **)(a + 1);
    const char *reason = fix_refusal(run);
    bool failed = run->result.verdict != VERDICT_OK && json_is_object(diagnosis_of(run));
    struct fixing *f = failed && !reason ? calloc(1, sizeof *f) : NULL;
    if (!f) {
        put_answer(run, failed ? reason ? reason : "there is no memory" : NULL, NULL, NULL, 0);
        run_explained(run);
        return;
    }
    f->api = api;
    f->run = run;
    run->aftermath = f;
    f->error = error_of(run);
    f->began_us = clock_us();
    (void)uv_timer_init(api->loop, &f->timer);
    f->timer.data = f;
    begin_tries(f);
}

static void hurry(struct run_aftermath *a, struct run *run)
{
    struct fixing *f = run->aftermath;
    (void)a;
    (void)uv_timer_start(&f->timer, on_time, 0, 0);
}

void fixes_arm(struct api *api, struct run_spec *spec)
{
    if (spec->options.fixes == FIXES_NONE || spec->host)
        return;
    api->core->fixes.api = api;
    api->core->fixes.aftermath.begin = begin;
    api->core->fixes.aftermath.hurry = hurry;
    spec->aftermath = &api->core->fixes.aftermath;
}

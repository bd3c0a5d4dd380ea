/* The stages of a run before its program: asking for what was made before, making it, or waiting for who makes it. A run has
 * had its turn by then and counts as running, whether it has a jar at the moment or not. */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "engine/engine_impl.h"

static struct live *of_wait(struct program_wait *w)
{
    return (struct live *)((char *)w - offsetof(struct live, wait));
}

/* ---- those who go on ---- */

static void push(struct live *l)
{
    struct engine *r = l->x.runner;
    l->ready = true;
    l->next_ready = NULL;
    *(r->last_ready ? &r->last_ready->next_ready : &r->first_ready) = l;
    r->last_ready = l;
}

static void drop_ready(struct live *l)
{
    struct engine *r = l->x.runner;
    struct live *before = NULL;
    if (!l->ready)
        return;
    for (struct live *at = r->first_ready; at != l; at = at->next_ready)
        before = at;
    *(before ? &before->next_ready : &r->first_ready) = l->next_ready;
    if (r->last_ready == l)
        r->last_ready = before;
    l->ready = false;
}

/* The loop goes on with it when there is room. */
static void answered(struct program_wait *w, enum program_answer what, struct program *p)
{
    struct live *l = of_wait(w);
    l->answer = what;
    if (p) {
        program_release(l->program);
        l->program = p;
        l->program_cached = what == PROGRAM_HERE;
    }
    push(l);
}

/* ---- one stage after the other ---- */

static int ask(struct live *l, struct err *e)
{
    struct engine *r = l->x.runner;
    const struct run_spec *s = &l->x.spec;
    char key[PROGRAM_KEY_SIZE];
    autofree char **sources = NULL;
    struct program *p = NULL;
    if (stage_installed(s->language, &l->run.end.err)) {
        *e = l->run.end.err; /* its code is told as well */
        return -1;
    }
    if (stage_sources(s->language, s->main_name, &s->bundle, &sources, e))
        return -1;
    struct jar_request whole = run_request(l);
    whole.sources = sources;
    struct jar_request stage = stage_request(stage_now(l), &whole);
    if (program_key(key, &stage, r->isolation.level, &s->bundle, e))
        return -1;
    l->wait = (struct program_wait){ .answer = answered,
                                     .files = &s->bundle,
                                     .limits = stage.limits };
    if (s->options.no_cache) { /* it makes it for itself alone */
        l->answer = PROGRAM_YOURS;
        return 0;
    }
    l->answer = programs_ask(r->programs, key, &l->wait, &p);
    if (p) {
        program_release(l->program);
        l->program = p;
        l->program_cached = true;
    }
    return 0;
}

static void fail(struct live *l);

/* Until it has a jar, waits, or is over. */
static void go_on(struct live *l)
{
    struct err e = { 0 };
    while (stage_now(l) != STAGE_RUN) {
        if (l->answer == PROGRAM_UNASKED && ask(l, &e)) {
            run_finish_early(l, VERDICT_INTERNAL_ERROR, e.text);
            return;
        }
        if (l->answer == PROGRAM_LATER)
            return;
        if (l->answer == PROGRAM_FAILED) {
            fail(l);
            return;
        }
        if (l->answer == PROGRAM_YOURS)
            break;
        l->stage++;
        l->answer = PROGRAM_UNASKED;
    }
    run_start(l);
}

void run_stages_begin(struct live *l)
{
    l->begun_us = clock_us();
    l->stages = stages_of(l->x.spec.language, &l->x.spec.options);
    l->stage = 0;
    l->answer = PROGRAM_UNASKED;
    go_on(l);
}

bool run_stages_resume(struct engine *r)
{
    struct live *l = r->first_ready;
    if (!l)
        return false;
    drop_ready(l);
    go_on(l);
    return true;
}

void run_stages_drop(struct live *l)
{
    drop_ready(l);
    l->closing = false;
    programs_leave(l->x.runner->programs, &l->wait);
}

/* ---- the end of a stage ---- */

/* What the compiler said is what the run says. */
static int tell_said(struct live *l, struct err *e)
{
    static const enum journal_kind kinds[RUN_STREAMS] = { JOURNAL_STDOUT, JOURNAL_STDERR };
    enum { PIECE = 64 << 10 };
    uint64_t us = l->program->how.usage.wall_us;
    for (int i = 0; i < RUN_STREAMS; i++) {
        const struct buf *said = &l->program->how.said[i];
        for (size_t at = 0; at < said->len; at += PIECE) {
            size_t n = said->len - at < PIECE ? said->len - at : (size_t)PIECE;
            if (journal_add(&l->x.journal, kinds[i], us, said->data + at, n, e))
                return -1;
        }
    }
    return 0;
}

static void fail(struct live *l)
{
    struct err e = { 0 };
    if (tell_said(l, &e)) {
        run_finish_early(l, VERDICT_INTERNAL_ERROR, e.text);
        return;
    }
    run_tell(l, RUN_EVENT_OUTPUT);
    run_finish(l, VERDICT_COMPILE_ERROR);
}

static int take_made(struct live *l, struct preparation *how, const struct buf *made, struct err *e)
{
    struct program *p = NULL;
    if (programs_made(l->x.runner->programs, &l->wait, how, made, &p, e))
        return -1;
    program_release(l->program);
    l->program = p;
    l->program_cached = false;
    return 0;
}

void run_stages_over(struct live *l)
{
    struct engine *r = l->x.runner;
    struct err e = { 0 };
    scoped(preparation) how = { 0 };
    scoped(buf) made = l->run.outputs;
    preparation_end(&how, stage_now(l), l->x.spec.language, &l->run, l->said);
    l->run.outputs = (struct buf){ 0 };
    if (l->error_text[0] || (how.verdict != VERDICT_OK && !preparation_failed(&how))) {
        run_finish(l, how.verdict); /* cancelled, or a failure of ours */
        return;
    }
    run_leave_jar(l);
    l->run = (struct jar_run){ .stdin_fd = -1,
                               .outputs_fd = -1 }; /* nothing of it is the program's */
    l->run.streams[RUN_STDOUT].fd = l->run.streams[RUN_STDERR].fd = -1;
    if (how.verdict != VERDICT_OK) {
        program_release(l->program);
        l->program = programs_failed(r->programs, &l->wait, &how);
        l->program_cached = false;
        if (l->program)
            fail(l);
        else
            run_finish_early(l, VERDICT_INTERNAL_ERROR, "no memory for a program");
    } else if (take_made(l, &how, &made, &e)) {
        run_finish_early(l, VERDICT_INTERNAL_ERROR, e.text);
    } else { /* its handles are used again */
        l->answer = PROGRAM_HERE;
        l->closing = true;
        if (l->open_polls == 0)
            run_stages_closed(l);
    }
}

void run_stages_closed(struct live *l)
{
    l->closing = false;
    if (l->over)
        return;
    push(l);
    engine_pump(l->x.runner);
}

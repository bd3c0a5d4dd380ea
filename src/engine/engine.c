#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/strv.h"
#include "engine/engine_impl.h"

/* ---- specs ---- */

void run_spec_done(struct run_spec *s)
{
    char *const texts[] = { s->main_name, s->key,     s->actor,   s->thread, s->artifact,
                            s->batch,     s->surface, s->request, s->code };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(texts[i]);
    buf_done(&s->bundle);
    buf_done(&s->stdin_bytes);
    strv_free(s->args);
    strv_free(s->env);
    strv_free(s->outputs);
    json_decref(s->metadata);
    json_decref(s->taken);
    run_options_done(&s->options);
    *s = (struct run_spec){ 0 };
}

/* ---- the runner ---- */

static void on_programs(void *context)
{
    struct engine *r = context;
    engine_pump(r);
    engine_check_idle(r);
}

int engine_new(struct engine **ret, uv_loop_t *loop, struct store *store, int dir_fd,
               const struct engine_limits *limits, struct err *e)
{
    struct engine *r = calloc(1, sizeof *r);
    struct wire_message *m = malloc(sizeof *m);
    if (!r || !m) {
        free(r);
        free(m);
        return err_no_memory(e, "the runs");
    }
    r->loop = loop;
    r->store = store;
    r->dir_fd = dir_fd;
    r->limits = *limits;
    r->wire_fd = -1;
    r->message = m;
    if (diagnoser_new(&r->diagnoser, e) || programs_new(&r->programs, loop, on_programs, r, e)) {
        diagnoser_free(r->diagnoser);
        free(r);
        free(m);
        return -1;
    }
    (void)uv_timer_init(loop, &r->pace);
    uv_unref((uv_handle_t *)&r->pace);
    r->pace.data = r;
    pools_policy_init(&r->pools, &(struct pools_settings){ 0 });
    pools_link_init(r);
    r->open_timers = 2;
    *ret = r;
    return 0;
}

static void on_wire_closed(uv_handle_t *handle)
{
    free(handle);
}

static void close_wire(struct engine *r)
{
    if (r->wire_poll) {
        (void)uv_poll_stop(r->wire_poll);
        uv_close((uv_handle_t *)r->wire_poll, on_wire_closed);
        r->wire_poll = NULL;
    }
    fd_close(&r->wire_fd);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct engine *r = handle->data;
    if (--r->open_timers > 0)
        return;
    free(r->message);
    free(r);
}

void engine_free(struct engine *r)
{
    if (!r)
        return;
    close_wire(r);
    diagnoser_free(r->diagnoser);
    r->diagnoser = NULL;
    programs_free(r->programs);
    uv_close((uv_handle_t *)&r->pace, on_timer_closed);
    uv_close((uv_handle_t *)&r->link.timer, on_timer_closed);
}

struct diagnoser *engine_diagnoser(struct engine *r)
{
    return r->diagnoser;
}

void engine_set_limits(struct engine *r, const struct engine_limits *limits)
{
    r->limits = *limits;
    engine_pump(r);
}

void engine_keep_programs(struct engine *r, int dir_fd, uint64_t max_bytes)
{
    programs_set_dir(r->programs, dir_fd, max_bytes);
}

void engine_set_programs_max(struct engine *r, uint64_t max_bytes)
{
    programs_set_max(r->programs, max_bytes);
}

const struct isolation *engine_isolation(const struct engine *r)
{
    return r->wire_fd >= 0 ? &r->isolation : NULL;
}

/* ---- the wire ---- */

static void lose_wire(struct engine *r)
{
    close_wire(r);
    pools_link_lost(r);
    r->counts.warden_losses++;
    for (unsigned i = 0; i < SLOTS; i++)
        if (r->slots[i])
            run_lost(r->slots[i]);
}

static void on_wire(uv_poll_t *handle, int status, int events)
{
    struct engine *r = handle->data;
    struct err e = { 0 };
    (void)events;
    if (status < 0 || wire_receive(r->wire_fd, r->message, &e) <= 0) {
        lose_wire(r);
        return;
    }
    if (r->message->type == WIRE_POOLS) {
        if (pools_link_message(r, r->message, &e))
            lose_wire(r);
        return;
    }
    uint64_t id;
    struct live *l = wire_message_id(r->message, &id, &e) == 0 ? r->slots[id % SLOTS] : NULL;
    /* A warden that sends nonsense is not trusted with any jar. */
    if (!l || jar_run_message(&l->run, r->message, &e)) {
        lose_wire(r);
        return;
    }
    run_after_message(l);
    engine_pump(r);
}

int engine_set_wire(struct engine *r, int fd, const struct isolation *isolation, struct err *e)
{
    autoclose int taken = fd;
    if (r->wire_fd >= 0)
        lose_wire(r);
    uv_poll_t *poll = calloc(1, sizeof *poll);
    if (!poll)
        return err_no_memory(e, "the wire");
    int rc = uv_poll_init(r->loop, poll, taken);
    if (rc < 0) {
        free(poll);
        return err_set(e, ERR_KERNEL, -rc, "watch the wire");
    }
    poll->data = r;
    r->wire_poll = poll;
    r->wire_fd = fd_take(&taken);
    r->isolation = *isolation;
    rc = uv_poll_start(poll, UV_READABLE, on_wire);
    if (rc < 0) {
        close_wire(r);
        return err_set(e, ERR_KERNEL, -rc, "watch the wire");
    }
    pools_link_begin(r);
    engine_pump(r);
    return 0;
}

/* Few are on their way into a jar at one time: the wire stays short, so that sending never waits, and whoever asked to be
 * cancelled is still ours to cancel. */
void engine_pump(struct engine *r)
{
    while (r->wire_fd >= 0 && r->starting < STARTING_MAX) {
        if (run_stages_resume(r))
            continue;
        struct live *l = queue_pop(r);
        if (!l)
            return;
        run_stages_begin(l);
    }
}

/* ---- submitting ---- */

static uint64_t text_bytes(const char *text)
{
    return text ? strlen(text) : 0;
}

static uint64_t spec_bytes(const struct run_spec *s)
{
    return s->bundle.len + s->stdin_bytes.len + text_bytes(s->request) + text_bytes(s->code);
}

/* What waits may be few and large: all programs together are bounded too, and one key's never take more than half. */
static bool too_many_bytes(const struct engine *r, const struct run_spec *spec)
{
    uint64_t all = spec_bytes(spec), own = all;
    const char *key = spec->key ? spec->key : "";
    if (!r->alive) /* one alone is as large as a request may be */
        return false;
    for (const struct live *l = r->alive; l; l = l->next_alive) {
        all += l->bytes;
        own += strcmp(l->x.spec.key ? l->x.spec.key : "", key) == 0 ? l->bytes : 0;
    }
    return all > r->limits.bytes || (spec->key && own > r->limits.bytes / 2);
}

static int check_admission(struct engine *r, const struct run_spec *spec, unsigned flags,
                           struct err *e)
{
    if (r->draining)
        return err_set(e, ERR_BUSY, 0, "the service is stopping: try again when it is back");
    if ((flags & SUBMIT_HELD) && !(flags & SUBMIT_STORED) && r->counts.held >= r->limits.held)
        return err_set(e, ERR_BUSY, 0,
                       "%u runs wait for an approval, which is all this service takes: decide on "
                       "some first",
                       r->counts.held);
    if (too_many_bytes(r, spec))
        return err_set(
            e, ERR_BUSY, 0,
            "the programs that run and wait are as large together as this service takes: "
            "try again in %u s",
            engine_retry_after_s(r));
    if (flags & (SUBMIT_PATIENT | SUBMIT_HELD) ||
        queue_has_room(r, spec->key, spec->key_max_runs, uv_now(r->loop)))
        return 0;
    r->counts.refused++;
    return err_set(e, ERR_BUSY, 0,
                   "%u runs are running and %u wait, which is all this service takes: try again "
                   "in %u s",
                   r->queue.running, r->queue.waiting, engine_retry_after_s(r));
}

static struct live *live_new(struct engine *r, struct run_spec *spec, unsigned flags,
                             const char *id)
{
    struct live *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->x.runner = r;
    l->bytes = spec_bytes(spec);
    l->x.spec = *spec;
    *spec = (struct run_spec){ 0 };
    l->x.queued_at_ms = clock_unix_ms();
    l->patient = flags & SUBMIT_PATIENT;
    l->held = flags & SUBMIT_HELD;
    l->recorded = flags & SUBMIT_STORED;
    l->run.stdin_fd = l->run.outputs_fd = -1;
    l->run.streams[RUN_STDOUT].fd = l->run.streams[RUN_STDERR].fd = -1;
    journal_init(&l->x.journal, r->dir_fd);
    if (id)
        (void)snprintf(l->x.id, sizeof l->x.id, "%s", id);
    else
        id_make("run_", l->x.id);
    l->next_alive = r->alive;
    if (r->alive)
        r->alive->prev_alive = l;
    r->alive = l;
    return l;
}

int engine_submit(struct engine *r, struct run_spec *spec, unsigned flags, const char *id,
                  struct run_watch *w, struct run **ret, struct err *e)
{
    if (check_admission(r, spec, flags, e)) {
        run_spec_done(spec);
        return -1;
    }
    struct live *l = live_new(r, spec, flags, id);
    if (!l) {
        run_spec_done(spec);
        return err_no_memory(e, "a run");
    }
    l->x.state = l->held ? RUN_WAITING : RUN_QUEUED;
    if (!l->recorded && run_record_accept(l, e)) {
        l->held = false; /* not counted yet */
        l->told_done = true;
        run_free_if_unused(l);
        return -1;
    }
    r->counts.accepted++;
    if (w)
        run_watch_add(&l->x, w);
    *ret = &l->x;
    if (l->held) {
        r->counts.held++;
        return 0;
    }
    struct err why;
    run_choose_kind(l);
    if (queue_push(r, l, &why))
        run_finish_early(l, VERDICT_INTERNAL_ERROR, why.text);
    engine_pump(r);
    return 0;
}

/* About as long as half of those that wait take to get their turn. */
unsigned engine_retry_after_s(const struct engine *r)
{
    uint64_t s = 1 + queue_wait_ms(r) / 2000;
    return s < RETRY_AFTER_MAX_S ? (unsigned)s : RETRY_AFTER_MAX_S;
}

struct run *engine_find(struct engine *r, const char *id)
{
    for (struct live *l = r->alive; l; l = l->next_alive)
        if (!l->told_done && strcmp(l->x.id, id) == 0)
            return &l->x;
    return NULL;
}

/* ---- stopping ---- */

void engine_check_idle(struct engine *r)
{
    if (!r->draining || r->alive || !r->idle || programs_busy(r->programs))
        return;
    void (*idle)(void *) = r->idle;
    r->idle = NULL;
    idle(r->idle_context);
}

/* A run that waits for an approval stays in the history as waiting; whoever waits with it is told why it ends here. */
static void let_go(struct live *l)
{
    struct err e;
    (void)!err_set(&e, ERR_UNAVAILABLE, 0,
                   "the service is stopping; the run %s still waits for its approval", l->x.id);
    run_abandon(l, &e);
}

void engine_drain(struct engine *r, void (*idle)(void *context), void *context)
{
    struct live *next;
    r->draining = true;
    r->idle = idle;
    r->idle_context = context;
    for (struct live *l = r->alive; l; l = next) {
        next = l->next_alive;
        if (l->held)
            let_go(l);
    }
    engine_check_idle(r);
}

void engine_cancel_all(struct engine *r)
{
    struct live *next;
    for (struct live *l = r->alive; l; l = next) {
        next = l->next_alive;
        run_cancel(&l->x);
    }
}

/* ---- facts ---- */

static int language_index(const struct language *l)
{
    for (int i = 0; languages[i]; i++)
        if (languages[i] == l)
            return i;
    return -1;
}

void engine_set_version(struct engine *r, const struct language *l, const char *version)
{
    int i = language_index(l);
    if (i >= 0)
        (void)snprintf(r->versions[i], sizeof r->versions[i], "%s", version);
}

const char *engine_version(const struct engine *r, const struct language *l)
{
    int i = language_index(l);
    return i >= 0 && r->versions[i][0] ? r->versions[i] : NULL;
}

void engine_version_awaited(struct engine *r, const struct language *l, bool awaited)
{
    int i = language_index(l);
    if (i >= 0)
        r->awaited[i] = awaited;
}

bool engine_may_run(const struct engine *r, const struct language *l)
{
    int i = language_index(l);
    return i >= 0 && (r->versions[i][0] || r->awaited[i]);
}

struct engine_counts engine_counts(const struct engine *r)
{
    struct engine_counts c = r->counts;
    c.running = r->queue.running;
    c.queued = r->queue.waiting;
    struct programs_counts p = programs_counts(r->programs);
    c.compiled = p.made;
    c.compiles_failed = p.failed;
    c.compiles_spared = p.from_memory + p.shared;
    return c;
}

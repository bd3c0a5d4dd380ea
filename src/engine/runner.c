#include "engine/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/strv.h"
#include "engine/runner_impl.h"

/* ---- specs ---- */

void exec_spec_done(struct exec_spec *s)
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
    *s = (struct exec_spec){ 0 };
}

/* ---- the runner ---- */

static void on_programs(void *context)
{
    struct runner *r = context;
    runner_pump(r);
    runner_check_idle(r);
}

int runner_new(struct runner **ret, uv_loop_t *loop, struct store *store, int dir_fd,
               const struct runner_limits *limits, struct err *e)
{
    struct runner *r = calloc(1, sizeof *r);
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

static void close_wire(struct runner *r)
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
    struct runner *r = handle->data;
    if (--r->open_timers > 0)
        return;
    free(r->message);
    free(r);
}

void runner_free(struct runner *r)
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

struct diagnoser *runner_diagnoser(struct runner *r)
{
    return r->diagnoser;
}

void runner_set_limits(struct runner *r, const struct runner_limits *limits)
{
    r->limits = *limits;
    runner_pump(r);
}

void runner_keep_programs(struct runner *r, int dir_fd, uint64_t max_bytes)
{
    programs_set_dir(r->programs, dir_fd, max_bytes);
}

void runner_set_programs_max(struct runner *r, uint64_t max_bytes)
{
    programs_set_max(r->programs, max_bytes);
}

const struct isolation *runner_isolation(const struct runner *r)
{
    return r->wire_fd >= 0 ? &r->isolation : NULL;
}

/* ---- the wire ---- */

static void lose_wire(struct runner *r)
{
    close_wire(r);
    pools_link_lost(r);
    r->counts.warden_losses++;
    for (unsigned i = 0; i < SLOTS; i++)
        if (r->slots[i])
            exec_lost(r->slots[i]);
}

static void on_wire(uv_poll_t *handle, int status, int events)
{
    struct runner *r = handle->data;
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
    if (!l || run_message(&l->run, r->message, &e)) {
        lose_wire(r);
        return;
    }
    exec_after_message(l);
    runner_pump(r);
}

int runner_set_wire(struct runner *r, int fd, const struct isolation *isolation, struct err *e)
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
    runner_pump(r);
    return 0;
}

/* Few are on their way into a jar at one time: the wire stays short, so that sending never waits, and whoever asked to be
 * cancelled is still ours to cancel. */
void runner_pump(struct runner *r)
{
    while (r->wire_fd >= 0 && r->starting < STARTING_MAX) {
        if (prepare_resume(r))
            continue;
        struct live *l = queue_pop(r);
        if (!l)
            return;
        prepare_begin(l);
    }
}

/* ---- submitting ---- */

static uint64_t text_bytes(const char *text)
{
    return text ? strlen(text) : 0;
}

static uint64_t spec_bytes(const struct exec_spec *s)
{
    return s->bundle.len + s->stdin_bytes.len + text_bytes(s->request) + text_bytes(s->code);
}

/* What waits may be few and large: all programs together are bounded too, and one key's never take more than half. */
static bool too_many_bytes(const struct runner *r, const struct exec_spec *spec)
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

static int check_admission(struct runner *r, const struct exec_spec *spec, unsigned flags,
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
            runner_retry_after_s(r));
    if (flags & (SUBMIT_PATIENT | SUBMIT_HELD) ||
        queue_has_room(r, spec->key, spec->key_max_runs, uv_now(r->loop)))
        return 0;
    r->counts.refused++;
    return err_set(e, ERR_BUSY, 0,
                   "%u runs are running and %u wait, which is all this service takes: try again "
                   "in %u s",
                   r->queue.running, r->queue.waiting, runner_retry_after_s(r));
}

static struct live *live_new(struct runner *r, struct exec_spec *spec, unsigned flags,
                             const char *id)
{
    struct live *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->x.runner = r;
    l->bytes = spec_bytes(spec);
    l->x.spec = *spec;
    *spec = (struct exec_spec){ 0 };
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

int runner_submit(struct runner *r, struct exec_spec *spec, unsigned flags, const char *id,
                  struct exec_watch *w, struct exec **ret, struct err *e)
{
    if (check_admission(r, spec, flags, e)) {
        exec_spec_done(spec);
        return -1;
    }
    struct live *l = live_new(r, spec, flags, id);
    if (!l) {
        exec_spec_done(spec);
        return err_no_memory(e, "a run");
    }
    l->x.state = l->held ? RUN_WAITING : RUN_QUEUED;
    if (!l->recorded && history_accept(l, e)) {
        l->held = false; /* not counted yet */
        l->told_done = true;
        exec_free_if_unused(l);
        return -1;
    }
    r->counts.accepted++;
    if (w)
        exec_watch_add(&l->x, w);
    *ret = &l->x;
    if (l->held) {
        r->counts.held++;
        return 0;
    }
    struct err why;
    exec_choose_kind(l);
    if (queue_push(r, l, &why))
        exec_finish_early(l, VERDICT_INTERNAL_ERROR, why.text);
    runner_pump(r);
    return 0;
}

/* About as long as half of those that wait take to get their turn. */
unsigned runner_retry_after_s(const struct runner *r)
{
    uint64_t s = 1 + queue_wait_ms(r) / 2000;
    return s < RETRY_AFTER_MAX_S ? (unsigned)s : RETRY_AFTER_MAX_S;
}

struct exec *runner_find(struct runner *r, const char *id)
{
    for (struct live *l = r->alive; l; l = l->next_alive)
        if (!l->told_done && strcmp(l->x.id, id) == 0)
            return &l->x;
    return NULL;
}

/* ---- stopping ---- */

void runner_check_idle(struct runner *r)
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
    exec_abandon(l, &e);
}

void runner_drain(struct runner *r, void (*idle)(void *context), void *context)
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
    runner_check_idle(r);
}

void runner_cancel_all(struct runner *r)
{
    struct live *next;
    for (struct live *l = r->alive; l; l = next) {
        next = l->next_alive;
        exec_cancel(&l->x);
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

void runner_set_version(struct runner *r, const struct language *l, const char *version)
{
    int i = language_index(l);
    if (i >= 0)
        (void)snprintf(r->versions[i], sizeof r->versions[i], "%s", version);
}

const char *runner_version(const struct runner *r, const struct language *l)
{
    int i = language_index(l);
    return i >= 0 && r->versions[i][0] ? r->versions[i] : NULL;
}

void runner_version_awaited(struct runner *r, const struct language *l, bool awaited)
{
    int i = language_index(l);
    if (i >= 0)
        r->awaited[i] = awaited;
}

bool runner_may_run(const struct runner *r, const struct language *l)
{
    int i = language_index(l);
    return i >= 0 && (r->versions[i][0] || r->awaited[i]);
}

struct runner_counts runner_counts(const struct runner *r)
{
    struct runner_counts c = r->counts;
    c.running = r->queue.running;
    c.queued = r->queue.waiting;
    struct programs_counts p = programs_counts(r->programs);
    c.compiled = p.made;
    c.compiles_failed = p.failed;
    c.compiles_spared = p.from_memory + p.shared;
    return c;
}

#include "engine/engine.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "engine/engine_impl.h"

/* A run that waits for an event goes on from its callback; this starts the runs that wait for room.
 * A call from inside this function returns at once, because the loop here looks again anyway. */
void engine_start_runs(struct engine *engine)
{
    if (engine->starting_runs)
        return;
    engine->starting_runs = true;
    while (engine->wire_fd >= 0 && engine->starting < STARTING_MAX) {
        struct run *run = run_stages_pop_resumable(engine);
        if (run) {
            run_resume(run);
            continue;
        }
        run = queue_pop(engine);
        if (!run)
            break;
        run_begin(run);
    }
    engine->starting_runs = false;
}

/* ---- the engine ---- */

static void on_programs_change(void *context)
{
    struct engine *engine = context;
    engine_start_runs(engine);
    engine_check_idle(engine);
}

int engine_new(struct engine **ret, uv_loop_t *loop, struct store *store, int dir_fd,
               const struct engine_limits *limits, struct err *e)
{
    struct engine *engine = calloc(1, sizeof *engine);
    struct wire_message *m = malloc(sizeof *m);
    if (!engine || !m) {
        free(engine);
        free(m);
        return err_no_memory(e, "the engine");
    }
    engine->loop = loop;
    engine->store = store;
    engine->dir_fd = dir_fd;
    engine->limits = *limits;
    engine->wire_fd = -1;
    /* Ids of jars are higher than those of an earlier keeper, whose sessions may live on. */
    engine->next_serial = (uint64_t)clock_unix_ms();
    engine->message = m;
    if (programs_new(&engine->programs, loop, on_programs_change, engine, e)) {
        free(engine);
        free(m);
        return -1;
    }
    porter_link_open(engine);
    (void)uv_timer_init(loop, &engine->pace);
    uv_unref((uv_handle_t *)&engine->pace);
    engine->pace.data = engine;
    pools_policy_init(&engine->pools, &(struct pools_settings){ 0 });
    pools_link_init(engine);
    examinations_init(engine);
    engine->open_timers = 3;
    *ret = engine;
    return 0;
}

static void on_wire_closed(uv_handle_t *handle)
{
    free(handle);
}

static void close_wire(struct engine *engine)
{
    if (engine->wire_poll) {
        (void)uv_poll_stop(engine->wire_poll);
        uv_close((uv_handle_t *)engine->wire_poll, on_wire_closed);
        engine->wire_poll = NULL;
    }
    fd_close(&engine->wire_fd);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct engine *engine = handle->data;
    if (--engine->open_timers > 0)
        return;
    free(engine->message);
    free(engine);
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    close_wire(engine);
    porter_link_close(engine);
    for (unsigned i = 0; i < SLOTS; i++)
        if (engine->slots[i].jar)
            engine->slots[i].jar->on_lost(engine->slots[i].jar);
    examinations_close(engine, on_timer_closed);
    programs_free(engine->programs);
    uv_close((uv_handle_t *)&engine->pace, on_timer_closed);
    uv_close((uv_handle_t *)&engine->link.timer, on_timer_closed);
}

struct programs *engine_programs(struct engine *engine)
{
    return engine->programs;
}

int engine_set_examiner(struct engine *engine, int fd, struct err *e)
{
    return examinations_open(engine, fd, e);
}

void engine_end_examinations(struct engine *engine)
{
    examinations_end(engine);
}

void engine_set_limits(struct engine *engine, const struct engine_limits *limits)
{
    engine->limits = *limits;
    engine_start_runs(engine);
}

/* ---- runs ---- */

int engine_submit(struct engine *engine, struct run_spec *spec, unsigned flags, const char *id,
                  struct run_watch *w, struct run **ret, struct err *e)
{
    struct run *run;
    if (admission_check(engine, spec, flags, e)) {
        run_spec_done(spec);
        return -1;
    }
    if (run_new(engine, spec, flags, id, &run, e))
        return -1;
    engine->counts.accepted++;
    if (w)
        run_watch_add(run, w);
    *ret = run;
    if (run->awaits_decision)
        engine->counts.undecided++;
    else
        run_enqueue(run);
    return 0;
}

struct run *engine_find(struct engine *engine, const char *id)
{
    for (struct run *run = engine->alive; run; run = run->next_alive)
        if (!run->is_done && strcmp(run->id, id) == 0)
            return run;
    return NULL;
}

/* ---- jars ---- */

int engine_free_slot(struct engine *engine, struct slot **ret, uint64_t *ret_id, struct err *e)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        unsigned at = (unsigned)((engine->next_serial + i) % SLOTS);
        if (engine->slots[at].run || engine->slots[at].jar)
            continue;
        *ret = &engine->slots[at];
        *ret_id = ++engine->next_serial * SLOTS + at;
        return 0;
    }
    return err_set(e, ERR_UNAVAILABLE, 0, "%d runs have a jar: wait for one to end", SLOTS);
}

int engine_jar_start(struct engine *engine, struct engine_jar *j, struct jar_request *request,
                     const struct buf *bundle, jar_run_sink *sink, void *context, struct err *e)
{
    autoclose int bundle_fd = -1;
    struct slot *slot;
    j->engine = engine;
    if (engine->wire_fd < 0)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "the process that makes jars is being restarted: try again in a moment");
    if (engine_free_slot(engine, &slot, &request->id, e) ||
        fd_sealed_memory("belljar-files", bundle, &bundle_fd, e))
        return -1;
    request->bundle_fd = bundle_fd;
    if (engine->pools.settings.max == 0)
        request->kind = 0;
    j->kind = request->kind;
    pools_link_count_demand(engine, request->kind);
    request->porter = &engine->porter;
    if (jar_run_start(&j->jar, engine->wire_fd, &engine->isolation, request, sink, context, e))
        return -1;
    j->slot = (unsigned)(slot - engine->slots);
    slot->jar = j;
    if (request->network)
        porter_link_await(engine);
    return 0;
}

int engine_jar_adopt(struct engine *engine, struct engine_jar *j, struct wire_message *m,
                     jar_run_sink *sink, void *context, struct err *e)
{
    struct slot *slot;
    uint64_t unused;
    j->engine = engine;
    /* Its id was chosen by an earlier keeper: another jar may have its place. */
    if (engine_free_slot(engine, &slot, &unused, e) ||
        jar_run_adopt(&j->jar, engine->wire_fd, &engine->isolation, m, sink, context, e))
        return -1;
    j->slot = (unsigned)(slot - engine->slots);
    slot->jar = j;
    return 0;
}

void engine_jar_done(struct engine_jar *j)
{
    if (j->engine && j->engine->slots[j->slot].jar == j)
        j->engine->slots[j->slot].jar = NULL;
    jar_run_done(&j->jar);
}

/* ---- the wire ---- */

static void lose_wire(struct engine *engine)
{
    close_wire(engine);
    pools_link_lost(engine);
    engine->counts.warden_losses++;
    for (unsigned i = 0; i < SLOTS; i++)
        if (engine->slots[i].run)
            run_on_warden_lost(engine->slots[i].run);
        else if (engine->slots[i].jar)
            engine->slots[i].jar->on_lost(engine->slots[i].jar);
}

static struct jar_run *jar_in(const struct slot *s)
{
    return s->run ? &s->run->jar : s->jar ? &s->jar->jar : NULL;
}

/* Almost always in the place that its id names: an adopted jar may be elsewhere. */
const struct slot *engine_slot_of(const struct engine *engine, uint64_t id)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        const struct slot *s = &engine->slots[(id + i) % SLOTS];
        const struct jar_run *jar = jar_in(s);
        if (jar && jar->id == id)
            return s;
    }
    return NULL;
}

void engine_tell_slot(struct engine *engine, const struct slot *slot)
{
    if (slot->run)
        run_on_wire_message(slot->run);
    else
        slot->jar->on_message(slot->jar);
    engine_start_runs(engine);
}

/* A message about the pools or a jar. -1: a warden that sends a wrong message is not trusted with
 * any jar. */
static int take_message(struct engine *engine, const struct wire_message *m, struct err *e)
{
    uint64_t id;
    if (m->type == WIRE_POOLS)
        return pools_link_on_message(engine, m, e);
    if (wire_message_id(m, &id, e))
        return -1;
    const struct slot *found = engine_slot_of(engine, id);
    if (!found)
        return err_set(e, ERR_PROTOCOL, 0, "there is no jar %llu", (unsigned long long)id);
    struct slot slot = *found;
    struct jar_run *jar = jar_in(&slot);
    bool had_started = jar->started;
    if (jar_run_on_message(jar, m, e))
        return -1;
    if (slot.jar && jar->started && !had_started)
        engine->pools.starts[slot.jar->kind][jar->start]++;
    if (jar->ended && jar->network_open)
        porter_link_await(engine);
    engine_tell_slot(engine, &slot);
    return 0;
}

static void on_wire(uv_poll_t *handle, int status, int events)
{
    struct engine *engine = handle->data;
    struct err e = { 0 };
    (void)events;
    if (status < 0 || wire_receive(engine->wire_fd, engine->message, &e) <= 0) {
        lose_wire(engine);
        return;
    }
    if (take_message(engine, engine->message, &e)) {
        wire_message_done(engine->message);
        lose_wire(engine);
    }
}

static int receive_soon(const struct engine *engine, struct err *e)
{
    enum { PATIENCE_MS = 10000 };
    struct pollfd wire = { .fd = engine->wire_fd, .events = POLLIN };
    if (poll(&wire, 1, PATIENCE_MS) <= 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "the warden does not tell which sessions it keeps");
    return wire_receive(engine->wire_fd, engine->message, e) > 0
               ? 0
               : err_set(e, ERR_UNAVAILABLE, 0, "the warden is gone");
}

/* One answer to `adopt`, and the messages before it. 1: there may be more. */
static int adopt_next(struct engine *engine, uint64_t *after, engine_on_kept *on_kept,
                      void *context, struct err *e)
{
    struct wire_message *m = engine->message;
    struct wire_kept kept;
    uint32_t left;
    if (wire_send_adopt(engine->wire_fd, *after, e))
        return -1;
    for (;;) {
        if (engine->wire_fd < 0 || receive_soon(engine, e))
            return -1;
        if (m->type == WIRE_ADOPTED)
            return wire_read_adopted(m, &left, e);
        if (m->type == WIRE_KEPT)
            break;
        if (take_message(engine, m, e))
            return -1;
    }
    int rc = wire_read_kept(m, &kept, e);
    if (rc == 0 && kept.id <= *after)
        rc = err_set(e, ERR_PROTOCOL, 0, "a session is kept twice");
    if (rc == 0) {
        *after = kept.id;
        on_kept(context, m);
    }
    wire_message_done(m);
    return rc ? -1 : 1;
}

int engine_adopt(struct engine *engine, engine_on_kept *on_kept, void *context, struct err *e)
{
    uint64_t after = 0;
    int more = 1;
    while (more > 0 && engine->wire_fd >= 0)
        more = adopt_next(engine, &after, on_kept, context, e);
    if (more < 0 && engine->wire_fd >= 0)
        lose_wire(engine);
    return more < 0 ? -1 : 0;
}

int engine_set_wire(struct engine *engine, int fd, const struct isolation *isolation, struct err *e)
{
    autoclose int wire_fd = fd;
    if (engine->wire_fd >= 0)
        lose_wire(engine);
    uv_poll_t *poll = calloc(1, sizeof *poll);
    if (!poll)
        return err_no_memory(e, "the wire");
    int rc = uv_poll_init(engine->loop, poll, wire_fd);
    if (rc < 0) {
        free(poll);
        return err_set(e, ERR_KERNEL, -rc, "watch the wire");
    }
    poll->data = engine;
    engine->wire_poll = poll;
    engine->wire_fd = fd_take(&wire_fd);
    engine->isolation = *isolation;
    rc = uv_poll_start(poll, UV_READABLE, on_wire);
    if (rc < 0) {
        close_wire(engine);
        return err_set(e, ERR_KERNEL, -rc, "watch the wire");
    }
    pools_link_begin(engine);
    engine_start_runs(engine);
    return 0;
}

const struct isolation *engine_isolation(const struct engine *engine)
{
    return engine->wire_fd >= 0 ? &engine->isolation : NULL;
}

/* ---- stopping ---- */

void engine_check_idle(struct engine *engine)
{
    if (!engine->draining || engine->alive || !engine->on_idle || programs_busy(engine->programs))
        return;
    void (*on_idle)(void *) = engine->on_idle;
    engine->on_idle = NULL;
    on_idle(engine->idle_context);
}

/* A run that awaits a decision stays in the history as waiting. Its watches learn why it ends. */
static void abandon_undecided(struct run *run)
{
    struct err e;
    (void)!err_set(&e, ERR_UNAVAILABLE, 0,
                   "the service is stopping; the run %s still waits for its approval", run->id);
    run_abandon(run, &e);
}

void engine_drain(struct engine *engine, void (*on_idle)(void *context), void *context)
{
    struct run *next;
    engine->draining = true;
    engine->on_idle = on_idle;
    engine->idle_context = context;
    for (struct run *run = engine->alive; run; run = next) {
        next = run->next_alive;
        if (run->awaits_decision)
            abandon_undecided(run);
    }
    engine_check_idle(engine);
}

void engine_cancel_all(struct engine *engine)
{
    struct run *next;
    for (struct run *run = engine->alive; run; run = next) {
        next = run->next_alive;
        run_cancel(run);
    }
}

size_t engine_cancel_if(struct engine *engine, bool (*wanted)(void *context, const struct run *run),
                        void *context)
{
    struct run *next;
    size_t n = 0;
    for (struct run *run = engine->alive; run; run = next) {
        next = run->next_alive;
        if (!wanted(context, run))
            continue;
        n++;
        run_cancel(run);
    }
    return n;
}

/* ---- facts ---- */

static int language_index(const struct language *l)
{
    for (int i = 0; languages[i]; i++)
        if (languages[i] == l)
            return i;
    return -1;
}

void engine_set_version(struct engine *engine, const struct language *l, const char *version)
{
    int i = language_index(l);
    if (i >= 0)
        (void)snprintf(engine->versions[i], sizeof engine->versions[i], "%s", version);
}

const char *engine_version(const struct engine *engine, const struct language *l)
{
    int i = language_index(l);
    return i >= 0 && engine->versions[i][0] ? engine->versions[i] : NULL;
}

void engine_set_version_pending(struct engine *engine, const struct language *l, bool pending)
{
    int i = language_index(l);
    if (i >= 0)
        engine->version_pending[i] = pending;
}

bool engine_may_run(const struct engine *engine, const struct language *l)
{
    int i = language_index(l);
    return i >= 0 && (engine->versions[i][0] || engine->version_pending[i]);
}

uint64_t engine_promised_memory(const struct engine *engine)
{
    return engine->queue.memory;
}

struct engine_counts engine_counts(const struct engine *engine)
{
    struct engine_counts c = engine->counts;
    c.running = engine->queue.running;
    c.queued = engine->queue.waiting;
    struct programs_counts p = programs_counts(engine->programs);
    c.compiled = p.compiled;
    c.compiles_failed = p.failed;
    c.compiles_spared = p.from_memory + p.shared;
    return c;
}

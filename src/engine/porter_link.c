/* The connection of the engine to the porter: log records of the networks of jars. A porter that is
 * silent or gone is replaced by the supervisor. Meanwhile runs with a network wait in the queue, for
 * at most PORTER_WAIT_MS. Runs in: keeper. */
#include <stdlib.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "engine/engine_impl.h"
#include "porter/plan.h"

enum { PORTER_WAIT_MS = 10000 };

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static void close_link(struct engine *engine)
{
    if (engine->porter_poll) {
        (void)uv_poll_stop(engine->porter_poll);
        uv_close((uv_handle_t *)engine->porter_poll, on_closed);
        engine->porter_poll = NULL;
    }
    porter_client_done(&engine->porter);
}

void porter_link_close(struct engine *engine)
{
    close_link(engine);
    if (!engine->porter_timer)
        return;
    (void)uv_timer_stop(engine->porter_timer);
    uv_close((uv_handle_t *)engine->porter_timer, on_closed);
    engine->porter_timer = NULL;
}

void porter_link_open(struct engine *engine)
{
    engine->porter = (struct porter_client)PORTER_CLIENT_INIT;
    engine->porter_gone_ms = clock_ms();
    engine->porter_timer = calloc(1, sizeof *engine->porter_timer);
    if (!engine->porter_timer)
        return; /* a porter that says nothing is noticed by nobody */
    (void)uv_timer_init(engine->loop, engine->porter_timer);
    engine->porter_timer->data = engine;
}

static struct jar_run *jar_of(const struct slot *s)
{
    return s->run ? &s->run->jar : s->jar ? &s->jar->jar : NULL;
}

/* The jars go on, without a network. */
static void lose_porter(struct engine *engine)
{
    close_link(engine);
    engine->porter_gone_ms = clock_ms();
    if (engine->on_porter_lost)
        engine->on_porter_lost(engine->porter_context, engine->porter_number);
    porter_link_await(engine);
    for (unsigned i = 0; i < SLOTS; i++) {
        struct slot slot = engine->slots[i];
        struct jar_run *jar = jar_of(&slot);
        if (!jar || !jar->network_open)
            continue;
        jar_run_on_porter_lost(jar);
        engine_tell_slot(engine, &slot);
    }
}

/* The next time at which a jar, a message or a run has waited too long. */
static uint64_t next_due_ms(const struct engine *engine)
{
    uint64_t due = engine->porter.fd < 0 ? engine->porter_gone_ms + PORTER_WAIT_MS
                                         : porter_client_due_ms(&engine->porter);
    for (unsigned i = 0; i < SLOTS; i++) {
        const struct jar_run *jar = jar_of(&engine->slots[i]);
        uint64_t one = jar ? jar_run_porter_due_ms(jar) : UINT64_MAX;
        due = one < due ? one : due;
    }
    return due;
}

static bool has_waited_too_long(const struct engine *engine)
{
    return engine->porter.fd < 0 && clock_ms() >= engine->porter_gone_ms + PORTER_WAIT_MS;
}

static int refuse(struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, 0,
                   "the process that connects runs to the network is being restarted, and has not "
                   "come back for %d s: try again later, or without a network",
                   PORTER_WAIT_MS / 1000);
}

static void on_late(uv_timer_t *timer)
{
    struct engine *engine = timer->data;
    struct err e = { 0 };
    struct run *run;
    uint64_t due = next_due_ms(engine);
    if (due > clock_ms()) {
        porter_link_await(engine);
    } else if (engine->porter.fd >= 0) {
        log_event(LOG_ERROR, "porter.silent", "its runs end without its last words");
        lose_porter(engine);
    } else {
        (void)!refuse(&e);
        while ((run = queue_find_networked(engine)))
            run_fail_waiting(run, e.text);
    }
}

static void on_event(uv_poll_t *handle, int status, int events);

void porter_link_await(struct engine *engine)
{
    uint64_t due = engine->porter_timer ? next_due_ms(engine) : UINT64_MAX, now = clock_ms();
    if (due != UINT64_MAX)
        (void)uv_timer_start(engine->porter_timer, on_late, due > now ? due - now : 1, 0);
    if (engine->porter_poll)
        (void)uv_poll_start(engine->porter_poll,
                            UV_READABLE | (engine->porter.first ? UV_WRITABLE : 0), on_event);
}

static void on_event(uv_poll_t *handle, int status, int events)
{
    struct engine *engine = handle->data;
    struct porter_event event;
    struct err e = { 0 };
    if (events & UV_WRITABLE) {
        if (porter_client_flush(&engine->porter, &e))
            status = -1;
        else
            porter_link_await(engine);
    }
    int got = status < 0             ? -1
              : events & UV_READABLE ? porter_client_read(&engine->porter, &event, &e)
                                     : 0;
    if (got < 0) {
        lose_porter(engine);
        return;
    }
    const struct slot *found = got > 0 ? engine_slot_of(engine, jar_run_of_event(&event)) : NULL;
    if (!found)
        return;
    struct slot slot = *found;
    if (slot.jar)
        slot.jar->on_network(slot.jar, &event);
    else
        jar_run_on_network(&slot.run->jar, &event, &slot.run->jar.network);
    if (slot.run && !event.closed && !event.changed)
        run_on_network(slot.run, &event.record);
    engine_tell_slot(engine, &slot);
}

int engine_network_possible(const struct engine *engine, const struct network_policy *p,
                            struct err *e)
{
    if (p->mode == NETWORK_NONE)
        return 0;
    if (engine->wire_fd >= 0 && engine->isolation.level == LEVEL_PROCESS)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "a network list needs isolation level jar or rootless, and this service has "
                       "level process");
    return has_waited_too_long(engine) ? refuse(e) : plan_possible(p, e);
}

void engine_watch_porter(struct engine *engine, engine_on_porter_lost *on_lost, void *context)
{
    engine->on_porter_lost = on_lost;
    engine->porter_context = context;
}

int engine_set_porter(struct engine *engine, int fd, uint32_t number, struct err *e)
{
    autoclose int porter_fd = fd;
    if (engine->porter.fd >= 0)
        lose_porter(engine);
    engine->porter_number = number;
    uv_poll_t *poll = calloc(1, sizeof *poll);
    if (!poll)
        return err_no_memory(e, "the porter");
    int rc = uv_poll_init(engine->loop, poll, porter_fd);
    if (rc < 0) {
        free(poll);
        return err_set(e, ERR_KERNEL, -rc, "watch the porter");
    }
    poll->data = engine;
    engine->porter_poll = poll;
    engine->porter.fd = fd_take(&porter_fd);
    rc = uv_poll_start(poll, UV_READABLE, on_event);
    if (rc < 0) {
        close_link(engine);
        return err_set(e, ERR_KERNEL, -rc, "watch the porter");
    }
    for (unsigned i = 0; i < SLOTS; i++)
        if (engine->slots[i].jar)
            engine->slots[i].jar->on_message(engine->slots[i].jar);
    engine_start_runs(engine);
    return 0;
}

bool engine_has_porter(const struct engine *engine)
{
    return engine->porter.fd >= 0;
}

int engine_jar_open_network(struct engine_jar *j, const struct network_policy *p, struct err *e)
{
    int rc = jar_run_open_network(&j->jar, &j->engine->porter, p, e);
    porter_link_await(j->engine);
    return rc;
}

int engine_jar_change_network(struct engine_jar *j, const struct network_policy *p, struct err *e)
{
    int rc = jar_run_change_network(&j->jar, &j->engine->porter, p, e);
    porter_link_await(j->engine);
    return rc;
}

/* The connection of the engine to the porter: log records of the networks of jars. Runs in: keeper. */
#include <stdlib.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "engine/engine_impl.h"
#include "porter/plan.h"

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static void close_timer(struct engine *engine)
{
    if (!engine->porter_timer)
        return;
    (void)uv_timer_stop(engine->porter_timer);
    uv_close((uv_handle_t *)engine->porter_timer, on_closed);
    engine->porter_timer = NULL;
}

void porter_link_close(struct engine *engine)
{
    close_timer(engine);
    if (engine->porter_poll) {
        (void)uv_poll_stop(engine->porter_poll);
        uv_close((uv_handle_t *)engine->porter_poll, on_closed);
        engine->porter_poll = NULL;
    }
    porter_client_done(&engine->porter);
}

static struct jar_run *jar_of(const struct slot *s)
{
    return s->run ? &s->run->jar : s->jar ? &s->jar->jar : NULL;
}

/* The jars go on, without a network. */
static void lose_porter(struct engine *engine)
{
    porter_link_close(engine);
    for (unsigned i = 0; i < SLOTS; i++) {
        struct slot slot = engine->slots[i];
        struct jar_run *jar = jar_of(&slot);
        if (!jar || !jar->network_open)
            continue;
        jar_run_on_porter_lost(jar);
        engine_tell_slot(engine, &slot);
    }
}

/* The next time at which a jar has waited too long. */
static uint64_t next_due_ms(const struct engine *engine)
{
    uint64_t due = UINT64_MAX;
    for (unsigned i = 0; i < SLOTS; i++) {
        const struct jar_run *jar = jar_of(&engine->slots[i]);
        uint64_t one = jar ? jar_run_porter_due_ms(jar) : UINT64_MAX;
        due = one < due ? one : due;
    }
    return due;
}

static void on_late(uv_timer_t *timer)
{
    struct engine *engine = timer->data;
    uint64_t due = next_due_ms(engine);
    if (due > clock_ms()) {
        porter_link_await(engine);
        return;
    }
    log_event(LOG_ERROR, "porter.silent", "its runs end without its last words");
    lose_porter(engine);
}

void porter_link_await(struct engine *engine)
{
    uint64_t due = engine->porter_timer ? next_due_ms(engine) : UINT64_MAX, now = clock_ms();
    if (due != UINT64_MAX)
        (void)uv_timer_start(engine->porter_timer, on_late, due > now ? due - now : 1, 0);
}

static void on_event(uv_poll_t *handle, int status, int events)
{
    struct engine *engine = handle->data;
    struct porter_event event;
    struct err e = { 0 };
    (void)events;
    int got = status < 0 ? -1 : porter_client_read(&engine->porter, &event, &e);
    if (got < 0) {
        lose_porter(engine);
        return;
    }
    const struct slot *found = got > 0 ? engine_slot_of(engine, event.id) : NULL;
    if (!found)
        return;
    struct slot slot = *found;
    jar_run_on_network(jar_of(&slot), &event);
    if (slot.run && !event.closed)
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
    if (engine->porter.fd < 0)
        return err_set(
            e, ERR_UNAVAILABLE, 0,
            "the process that connects runs to the network is being restarted: try again "
            "in a moment");
    return plan_possible(p, e);
}

int engine_set_porter(struct engine *engine, int fd, struct err *e)
{
    autoclose int porter_fd = fd;
    if (engine->porter.fd >= 0)
        lose_porter(engine);
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
    engine->porter_timer = calloc(1, sizeof *engine->porter_timer);
    if (!engine->porter_timer) {
        porter_link_close(engine);
        return err_no_memory(e, "the porter");
    }
    (void)uv_timer_init(engine->loop, engine->porter_timer);
    engine->porter_timer->data = engine;
    engine->porter.fd = fd_take(&porter_fd);
    rc = uv_poll_start(poll, UV_READABLE, on_event);
    if (rc < 0) {
        porter_link_close(engine);
        return err_set(e, ERR_KERNEL, -rc, "watch the porter");
    }
    return 0;
}

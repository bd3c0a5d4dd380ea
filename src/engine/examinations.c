#include "engine/examinations.h"

#include <stdlib.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine_impl.h"
#include "examiner/examiner.h"
#include "examiner/exchange.h"

/* Readers that have answered are put away at a tick, at once only if fewer than this wait: their end
 * and the forks of the next ones would delay the answer to the client. */
enum { TICK_MS = 5, WAITING_MIN = 2 };

/* A reader that waits for a question, or has one. */
struct reader_link {
    uv_poll_t poll;
    struct engine *engine;
    struct exchange exchange;
    struct examination *current; /* NULL: it waits, or has answered */
    bool answered;
    uint64_t deadline_ms;
    struct reader_link *next;
};

/* ---- readers ---- */

static void on_link_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* The examiner kills the reader once this end of its socket is closed. */
static void drop_reader(struct reader_link *link)
{
    struct reader_link **at = &link->engine->examinations.readers;
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    (void)uv_poll_stop(&link->poll);
    uv_close((uv_handle_t *)&link->poll, on_link_closed);
    exchange_done(&link->exchange);
}

static void put_away(struct examinations *all)
{
    for (struct reader_link *link = all->readers, *next; link; link = next) {
        next = link->next;
        if (link->answered)
            drop_reader(link);
    }
}

static bool waits(const struct reader_link *link)
{
    return !link->current && !link->answered;
}

static void rest(struct reader_link *link)
{
    struct examinations *all = &link->engine->examinations;
    unsigned waiting = 0;
    link->current = NULL;
    link->answered = true;
    (void)uv_poll_stop(&link->poll); /* another word from it is ignored */
    buf_done(&link->exchange.received);
    for (const struct reader_link *l = all->readers; l; l = l->next)
        waiting += waits(l);
    if (waiting < WAITING_MIN)
        put_away(all);
}

/* ---- ends ---- */

static void end(struct examination *x, const struct answer *answer)
{
    buf_done(&x->question);
    x->on_done(x, answer);
}

static void lose(struct engine *engine, struct examination *x, const char *reason)
{
    struct examinations *all = &engine->examinations;
    engine->counts.diagnoses_lost++;
    if (reason) {
        log_event(LOG_WARN, "diagnosis.lost", "reason=%s", reason);
        if (++all->losses >= EXAMINATION_LOSSES_MAX)
            all->paused_until_ms = clock_ms() + EXAMINATION_PAUSE_MS;
    }
    end(x, NULL);
}

static struct examination *take_first(struct examinations *all)
{
    struct examination *x = all->first;
    if (x)
        all->first = x->next;
    if (!all->first)
        all->last = NULL;
    return x;
}

static bool is_paused(const struct examinations *all)
{
    return all->examiner_fd < 0 || clock_ms() < all->paused_until_ms;
}

/* ---- work ---- */

static void on_reader(uv_poll_t *poll, int status, int events);

static void advance(struct reader_link *link)
{
    struct engine *engine = link->engine;
    struct examination *x = link->current;
    scoped(answer) answer = { 0 };
    enum exchange_state state = exchange_step(&link->exchange, &answer);
    if (state == EXCHANGE_SENDING || state == EXCHANGE_WAITING) {
        int events = state == EXCHANGE_SENDING ? UV_WRITABLE : UV_READABLE;
        (void)uv_poll_start(&link->poll, events, on_reader);
        return;
    }
    if (state == EXCHANGE_LOST) {
        drop_reader(link);
        lose(engine, x, "the reader died");
        return;
    }
    rest(link);
    engine->examinations.losses = 0;
    end(x, &answer);
}

static void dispatch(struct engine *engine)
{
    struct examinations *all = &engine->examinations;
    struct reader_link *link = all->readers;
    while (all->first) {
        while (link && !waits(link))
            link = link->next;
        if (!link)
            return;
        struct examination *x = take_first(all);
        link->current = x;
        link->deadline_ms = clock_ms() + EXCHANGE_MS;
        link->exchange.id = x->id;
        link->exchange.question = &x->question;
        link->exchange.modules = x->modules;
        advance(link);
        link = all->readers; /* the list may have changed */
    }
}

static void on_reader(uv_poll_t *poll, int status, int events)
{
    struct reader_link *link = poll->data;
    (void)status;
    (void)events;
    if (link->current)
        advance(link);
    else
        drop_reader(link); /* it died, or speaks without being asked */
}

static int add_reader(struct engine *engine, int fd)
{
    struct reader_link *link = calloc(1, sizeof *link);
    if (!link || uv_poll_init(engine->loop, &link->poll, fd) != 0) {
        free(link);
        fd_close(&fd);
        return -1;
    }
    link->engine = engine;
    link->exchange.fd = fd;
    link->poll.data = link;
    link->next = engine->examinations.readers;
    engine->examinations.readers = link;
    return uv_poll_start(&link->poll, UV_READABLE, on_reader) == 0 ? 0 : -1;
}

static void on_tick(uv_timer_t *timer)
{
    struct engine *engine = timer->data;
    struct examinations *all = &engine->examinations;
    uint64_t now = clock_ms();
    bool busy = false;
    put_away(all);
    for (struct reader_link *link = all->readers, *next; link; link = next) {
        struct examination *x = link->current;
        next = link->next;
        busy = busy || x;
        if (!x || now < link->deadline_ms)
            continue;
        drop_reader(link);
        lose(engine, x, "the reader was late");
        next = all->readers; /* the list may have changed */
    }
    while (all->first &&
           (is_paused(all) || now >= all->first->waits_since_ms + EXAMINATION_WAIT_MS))
        lose(engine, take_first(all), is_paused(all) ? NULL : "no reader was free");
    if (!busy && !all->first)
        (void)uv_timer_stop(timer);
}

static void close_examiner(struct examinations *all)
{
    if (all->poll) {
        (void)uv_poll_stop(all->poll);
        all->poll->data = all->poll;
        uv_close((uv_handle_t *)all->poll, on_link_closed);
        all->poll = NULL;
    }
    fd_close(&all->examiner_fd);
}

static void on_examiner(uv_poll_t *poll, int status, int events)
{
    struct engine *engine = poll->data;
    struct examinations *all = &engine->examinations;
    int fd;
    (void)status;
    (void)events;
    while ((fd = examiner_next_reader(all->examiner_fd)) >= 0)
        if (add_reader(engine, fd))
            log_event(LOG_WARN, "examiner.reader_refused", "reason=%s", "no memory");
    if (fd == -2) {
        log_event(LOG_ERROR, "examiner.lost", "runs get no diagnosis until the next start");
        close_examiner(all);
    }
    dispatch(engine);
}

/* ---- for the engine ---- */

uint64_t examination_id(struct engine *engine)
{
    return ++engine->examinations.last_id;
}

void examine(struct engine *engine, struct examination *x)
{
    struct examinations *all = &engine->examinations;
    if (is_paused(all)) {
        lose(engine, x, NULL);
        return;
    }
    x->next = NULL;
    x->waits_since_ms = clock_ms();
    if (all->last)
        all->last->next = x;
    else
        all->first = x;
    all->last = x;
    if (!uv_is_active((uv_handle_t *)&all->timer))
        (void)uv_timer_start(&all->timer, on_tick, TICK_MS, TICK_MS);
    dispatch(engine);
}

void examinations_init(struct engine *engine)
{
    struct examinations *all = &engine->examinations;
    all->examiner_fd = -1;
    (void)uv_timer_init(engine->loop, &all->timer);
    uv_unref((uv_handle_t *)&all->timer);
    all->timer.data = engine;
}

int examinations_open(struct engine *engine, int examiner_fd, struct err *e)
{
    struct examinations *all = &engine->examinations;
    all->examiner_fd = examiner_fd;
    all->poll = calloc(1, sizeof *all->poll);
    if (!all->poll || uv_poll_init(engine->loop, all->poll, examiner_fd) != 0) {
        free(all->poll);
        all->poll = NULL;
        return err_no_memory(e, "the examiner");
    }
    all->poll->data = engine;
    if (uv_poll_start(all->poll, UV_READABLE, on_examiner) != 0)
        return err_set(e, ERR_KERNEL, 0, "watch the examiner");
    return 0;
}

void examinations_close(struct engine *engine, uv_close_cb on_timer_closed)
{
    struct examinations *all = &engine->examinations;
    while (all->readers)
        drop_reader(all->readers);
    close_examiner(all);
    uv_close((uv_handle_t *)&all->timer, on_timer_closed);
}

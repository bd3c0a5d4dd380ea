#include "engine/examinations.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine_impl.h"
#include "examiner/examiner.h"
#include "examiner/exchange.h"

/* Readers that have answered are put away at a tick, at once only if fewer than this wait: their end
 * and the forks of the next ones would delay the answer to the client. */
enum { TICK_MS = 5, WAITING_MIN = 2 };
enum { AT_WORK_MAX = EXAMINER_READERS - 1 }; /* for one key */
enum { DESCRIPTORS_MS = 100 };               /* until new readers are taken again */

/* A reader that waits for a question, or has one. */
struct reader_link {
    uv_poll_t poll;
    uv_work_t work; /* unpacks a large answer */
    struct engine *engine;
    struct exchange exchange;
    struct answer answer;
    struct examination *current; /* NULL: it waits, or has answered */
    bool answered, unpacking, unpacked;
    uint64_t deadline_ms;
    struct reader_link *next;
};

/* ---- readers ---- */

static void on_link_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void unlist(struct reader_link *link)
{
    struct reader_link **at = &link->engine->examinations.readers;
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
}

/* The examiner kills the reader once this end of its socket is closed. */
static void close_reader(struct reader_link *link)
{
    (void)uv_poll_stop(&link->poll);
    uv_close((uv_handle_t *)&link->poll, on_link_closed);
    exchange_done(&link->exchange);
    answer_done(&link->answer);
}

static void drop_reader(struct reader_link *link)
{
    unlist(link);
    close_reader(link);
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

/* reason NULL: it is expected, and not told. */
static void lose(struct engine *engine, struct examination *x, const char *reason)
{
    engine->counts.diagnoses_lost++;
    if (reason)
        log_event(LOG_WARN, "diagnosis.lost", "reason=%s", reason);
    end(x, NULL);
}

/* The reader of this examination died or was late, which the text of the guest may have caused. */
static void lose_with_reader(struct reader_link *link, const char *reason)
{
    struct engine *engine = link->engine;
    struct examination *x = link->current;
    drop_reader(link);
    pauses_note_loss(&engine->examinations.pauses, x->key, clock_ms());
    lose(engine, x, reason);
}

static bool is_hopeless(const struct examinations *all, const struct examination *x)
{
    return all->examiner_fd < 0 || all->deserted || pauses_have(&all->pauses, x->key, clock_ms());
}

/* ---- work ---- */

static void on_reader(uv_poll_t *poll, int status, int events);

static void finish(struct reader_link *link, bool unpacked)
{
    struct examination *x = link->current;
    if (!unpacked) {
        lose_with_reader(link, "the answer is malformed");
        return;
    }
    struct answer answer = link->answer;
    link->answer = (struct answer){ 0 };
    pauses_note_answer(&link->engine->examinations.pauses, x->key);
    rest(link);
    end(x, &answer);
    answer_done(&answer);
}

static void unpack(uv_work_t *work)
{
    struct reader_link *link = work->data;
    link->unpacked = exchange_answer(&link->exchange, &link->answer);
}

static void on_unpacked(uv_work_t *work, int status)
{
    struct reader_link *link = work->data;
    link->unpacking = false;
    if (link->current)
        finish(link, status == 0 && link->unpacked);
    else
        close_reader(link); /* examinations_end() has ended the examination */
}

static void take_answer(struct reader_link *link)
{
    if (link->exchange.received.len <= EXAMINATION_UNPACK_MAX) {
        finish(link, exchange_answer(&link->exchange, &link->answer));
        return;
    }
    (void)uv_poll_stop(&link->poll);
    link->work.data = link;
    link->unpacking = uv_queue_work(link->engine->loop, &link->work, unpack, on_unpacked) == 0;
    if (!link->unpacking)
        finish(link, false);
}

static void advance(struct reader_link *link)
{
    enum exchange_state state = exchange_step(&link->exchange);
    if (state == EXCHANGE_RECEIVED)
        take_answer(link);
    else if (state == EXCHANGE_LOST)
        lose_with_reader(link, "the reader died");
    else
        (void)uv_poll_start(&link->poll, state == EXCHANGE_SENDING ? UV_WRITABLE : UV_READABLE,
                            on_reader);
}

static bool same_key(const struct examination *a, const struct examination *b)
{
    return a->key && b->key ? strcmp(a->key, b->key) == 0 : a->key == b->key;
}

static bool may_begin(const struct examinations *all, const struct examination *x)
{
    unsigned at_work = 0;
    for (const struct reader_link *link = all->readers; link; link = link->next)
        at_work += link->current && same_key(link->current, x);
    return at_work < AT_WORK_MAX;
}

/* NULL: every key that waits has enough readers. */
static struct examination *take_next(struct examinations *all)
{
    struct examination **at = &all->waiting, *x;
    while (*at && !may_begin(all, *at))
        at = &(*at)->next;
    x = *at;
    if (x)
        *at = x->next;
    return x;
}

static struct reader_link *find_reader(const struct examinations *all)
{
    struct reader_link *link = all->readers;
    while (link && !waits(link))
        link = link->next;
    return link;
}

static void dispatch(struct engine *engine)
{
    struct examinations *all = &engine->examinations;
    struct reader_link *link;
    struct examination *x;
    while ((link = find_reader(all)) && (x = take_next(all))) {
        link->current = x;
        link->deadline_ms = clock_ms() + EXCHANGE_MS;
        link->exchange.id = x->id;
        link->exchange.question = &x->question;
        link->exchange.modules = x->modules;
        advance(link);
    }
}

static void on_reader(uv_poll_t *poll, int status, int events)
{
    struct reader_link *link = poll->data;
    struct engine *engine = link->engine;
    (void)status;
    (void)events;
    if (!link->current) {
        drop_reader(link); /* it died, or speaks without being asked */
        return;
    }
    advance(link);
    dispatch(engine); /* its key may begin another one */
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
    engine->examinations.deserted = false;
    return uv_poll_start(&link->poll, UV_READABLE, on_reader) == 0 ? 0 : -1;
}

/* ---- time ---- */

static void on_examiner(uv_poll_t *poll, int status, int events);

static bool is_late(const struct reader_link *link, uint64_t now)
{
    return link->current && !link->unpacking && now >= link->deadline_ms;
}

static void lose_late_readers(struct examinations *all, uint64_t now)
{
    struct reader_link *link = all->readers;
    while (link) {
        struct reader_link *next = link->next;
        if (is_late(link, now)) {
            lose_with_reader(link, "the reader was late");
            next = all->readers; /* the list may have changed */
        }
        link = next;
    }
}

/* The one that has waited longest comes first, but a pause can end any of them. */
static void lose_late_waiters(struct engine *engine, uint64_t now)
{
    struct examinations *all = &engine->examinations;
    struct examination **at = &all->waiting;
    while (*at) {
        struct examination *x = *at;
        bool hopeless = is_hopeless(all, x);
        if (!hopeless && now < x->waits_since_ms + EXAMINATION_WAIT_MS) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        all->deserted = all->deserted || (!hopeless && !all->readers);
        lose(engine, x, hopeless ? NULL : "no reader was free");
        at = &all->waiting; /* the list may have changed */
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct engine *engine = timer->data;
    struct examinations *all = &engine->examinations;
    uint64_t now = clock_ms();
    bool busy = false;
    put_away(all);
    lose_late_readers(all, now);
    dispatch(engine);
    lose_late_waiters(engine, now);
    if (all->listen_at_ms && now >= all->listen_at_ms) {
        all->listen_at_ms = 0;
        if (all->poll)
            (void)uv_poll_start(all->poll, UV_READABLE, on_examiner);
    }
    for (const struct reader_link *link = all->readers; link; link = link->next)
        busy = busy || !waits(link);
    if (!busy && !all->waiting && !all->listen_at_ms)
        (void)uv_timer_stop(timer);
}

static void start_timer(struct examinations *all)
{
    if (!uv_is_active((uv_handle_t *)&all->timer))
        (void)uv_timer_start(&all->timer, on_tick, TICK_MS, TICK_MS);
}

/* ---- the examiner ---- */

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
    if (fd == EXAMINER_GONE) {
        log_event(LOG_ERROR, "examiner.lost", "runs get no diagnosis until the next start");
        close_examiner(all);
    } else if (fd == EXAMINER_NO_DESCRIPTOR) {
        /* The examiner replaces the reader at once. Without a pause this would go round and round. */
        log_event(LOG_WARN, "examiner.reader_refused", "reason=%s", "too many open files");
        (void)uv_poll_stop(poll);
        all->listen_at_ms = clock_ms() + DESCRIPTORS_MS;
        start_timer(all);
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
    struct examination **end_of_line = &all->waiting;
    if (is_hopeless(all, x)) {
        lose(engine, x, NULL);
        return;
    }
    x->next = NULL;
    x->waits_since_ms = clock_ms();
    while (*end_of_line)
        end_of_line = &(*end_of_line)->next;
    *end_of_line = x;
    start_timer(all);
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

void examinations_end(struct engine *engine)
{
    struct examinations *all = &engine->examinations;
    close_examiner(all); /* from here on examine() ends at once */
    while (all->readers) {
        struct reader_link *link = all->readers;
        struct examination *x = link->current;
        link->current = NULL;
        unlist(link);
        if (!link->unpacking)
            close_reader(link);
        if (x)
            lose(engine, x, NULL);
    }
    while (all->waiting) {
        struct examination *x = all->waiting;
        all->waiting = x->next;
        lose(engine, x, NULL);
    }
}

void examinations_close(struct engine *engine, uv_close_cb on_timer_closed)
{
    examinations_end(engine);
    uv_close((uv_handle_t *)&engine->examinations.timer, on_timer_closed);
}

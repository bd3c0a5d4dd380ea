#include "cli/repl/connections.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "cli/repl/asking.h"
#include "cli/repl/passing.h"

enum { RETRY_MS = 100, PATIENCE_MS = 8000 };

void connections_done(struct connections *c)
{
    client_done(&c->events);
    client_done(&c->side);
    for (size_t i = 0; i < c->n_waiting; i++)
        buf_done(&c->waiting[i].text);
    c->n_waiting = 0;
}

int connections_receive(struct connections *c, enum link_type *ret_type, struct buf *ret,
                        struct err *e)
{
    if (c->n_waiting == 0)
        return link_receive(c->link_fd, ret_type, ret, e);
    buf_done(ret);
    *ret = c->waiting[0].text;
    *ret_type = c->waiting[0].type;
    memmove(c->waiting, c->waiting + 1, --c->n_waiting * sizeof c->waiting[0]);
    return 0;
}

bool connections_wait(const struct connections *c, int ms)
{
    struct pollfd polls[] = { { c->link_fd, POLLIN, 0 },
                              { c->side ? client_fd(c->side) : -1, POLLIN, 0 } };
    return c->n_waiting > 0 || (poll(polls, ARRAY_LEN(polls), ms) > 0 && polls[0].revents);
}

/* Keeps a record for later. Main sends few: more than RECORDS_MAX are interrupts. */
static int keep(struct connections *c, enum link_type type, const struct buf *text, struct err *e)
{
    if (c->n_waiting == RECORDS_MAX)
        return 0;
    struct record *r = &c->waiting[c->n_waiting];
    *r = (struct record){ .type = type };
    if (buf_add(&r->text, buf_str(text), text->len, e))
        return -1;
    c->n_waiting++;
    return 0;
}

/* One try. ERR_UNAVAILABLE with main's reason if it could not connect; *ret_main_gone: there is
 * nobody who could. */
static int connect_by_main(struct connections *c, struct client **ret, bool *ret_main_gone,
                           struct err *e)
{
    scoped(buf) text = { 0 };
    enum link_type type;
    *ret_main_gone = true;
    if (link_send(c->link_fd, TELL_CONNECT, "", 0, e))
        return -1;
    for (;;) {
        autoclose int fd = -1;
        if (link_receive_fd(c->link_fd, &type, &text, &fd, e))
            return -1;
        if (type != ASK_CONNECTED && keep(c, type, &text, e))
            return -1;
        if (type != ASK_CONNECTED)
            continue;
        *ret_main_gone = false;
        return passing_take(&text, fd_take(&fd), ret, e);
    }
}

int connections_renew(struct connections *c, struct client **connection, int patience_ms,
                      struct err *e)
{
    uint64_t start = clock_ms();
    bool main_gone;
    if (*connection && client_reusable(*connection))
        return 0;
    client_done(connection);
    while (connect_by_main(c, connection, &main_gone, e)) {
        if (main_gone || clock_ms() - start >= (uint64_t)patience_ms)
            return -1;
        (void)nanosleep(&(struct timespec){ .tv_nsec = RETRY_MS * 1000000L }, NULL);
    }
    return 0;
}

json_t *connections_ask(struct connections *c, struct client **connection, const char *id,
                        const char *method, const char *what, json_t *body, struct err *e)
{
    json_auto_t *held = body;
    /* The service may close an idle connection just as we use it. Then it has not read the
     * question, which is asked once more. */
    for (int tries = 0;; tries++) {
        if (connections_renew(c, connection, PATIENCE_MS, e))
            return NULL;
        json_t *o = session_question(*connection, id, method, what, json_incref(held), e);
        bool unheard = !o && e->code == ERR_UNAVAILABLE && !client_response(*connection)->began;
        if (o || !unheard || tries > 0)
            return o;
    }
}

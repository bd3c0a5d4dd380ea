/* The peers of the loop: the supervisor, one keeper after another, and the sessions that outlive a
 * keeper. Runs in: warden. */
#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "warden/loop_impl.h"

int keepers_watch(struct loop *l, int fd, void *who, struct err *e)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = who };
    return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0
               ? err_set(e, ERR_KERNEL, errno, "watch a peer")
               : 0;
}

/* Jars that no later keeper asks for end now. */
static void end_unkept(struct loop *l)
{
    for (int i = 0; i < l->slots_end; i++) {
        struct slot *s = &l->slots[i];
        if (!s->jar || s->idle || s->orphan || kept_find(&l->kept, s->id))
            continue;
        s->orphan = true;
        jar_kill(s->jar, END_CANCEL);
    }
}

/* A keeper would be dropped for one more. */
static_assert((int)KEPT_MAX >= (int)RUNS_MAX, "every jar can be kept");

/* We may notice the death of a keeper when we send, before we have read its last messages. A cell
 * that it has sent to the program needs its deadlines, and a jar that it ended must end. */
static void read_last_messages(struct loop *l)
{
    enum { LAST_MESSAGES = 2 * KEPT_MAX };
    static int (*const handlers[WIRE_TYPE_COUNT_])(struct loop *, struct err *) = {
        [WIRE_KEEP] = keepers_on_keep,
        [WIRE_CELL] = loop_on_cell,
        [WIRE_KILL] = loop_on_kill,
    };
    struct err ignored = { 0 };
    int resets = 0;
    for (int i = 0; i < LAST_MESSAGES && resets < 2; i++) {
        int got = wire_receive(l->wire_fd, &l->message, &ignored);
        if (got < 0)
            return;
        resets += got == 0;
        if (got > 0 && handlers[l->message.type])
            (void)!handlers[l->message.type](l, &ignored);
        if (got > 0)
            loop_wipe_message(l);
    }
}

void keepers_lose(struct loop *l)
{
    read_last_messages(l);
    fd_close(&l->network.fd);
    (void)epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, l->wire_fd, NULL); /* a child may have a copy */
    fd_close(&l->wire_fd);
    end_unkept(l);
    for (struct kept *k = l->kept.first; k; k = k->next) {
        const struct slot *s = loop_find_slot(l, k->id);
        k->told = false;
        if (s)
            jar_set_alone(s->jar, true);
    }
    l->kept.adopt_by_us = clock_us() + KEPT_ALONE_US;
}

int keepers_on_keeper(struct loop *l, struct err *e)
{
    struct err ignored;
    uint32_t number;
    int got = wire_receive(l->control_fd, &l->message, e);
    if (got < 0 && e->sys == EAGAIN)
        return 0;
    if (got <= 0)
        return -1; /* the supervisor is gone */
    if (l->message.type != WIRE_KEEPER || wire_read_keeper(&l->message, &number, e)) {
        wire_message_done(&l->message);
        return err_set(e, ERR_PROTOCOL, 0, "a supervisor may not send this message");
    }
    int wire_fd = fd_take(&l->message.fds[0]); /* first: keepers_lose() reads other messages */
    if (l->wire_fd >= 0)
        keepers_lose(l);
    l->wire_fd = wire_fd;
    if (fd_set_nonblock(l->wire_fd, &ignored) || keepers_watch(l, l->wire_fd, NULL, &ignored))
        keepers_lose(l);
    return 0;
}

/* The first message of a service's supervisor. From now on the wire that we were started with is
 * the supervisor's, and the descriptor of the message is the wire of a keeper. Only that wire can
 * do this: a keeper that was handed over cannot. */
int keepers_begin(struct loop *l, struct err *e)
{
    uint32_t number;
    if (l->control_fd >= 0)
        return err_set(e, ERR_PROTOCOL, 0, "a keeper may not send this message");
    if (wire_read_keeper(&l->message, &number, e) || fd_set_nonblock(l->message.fds[0], e))
        return -1;
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &l->control_fd };
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, l->wire_fd, &ev) < 0)
        return err_set(e, ERR_KERNEL, errno, "watch a peer");
    l->control_fd = l->wire_fd;
    l->wire_fd = fd_take(&l->message.fds[0]);
    return keepers_watch(l, l->wire_fd, NULL, e);
}

int keepers_on_keep(struct loop *l, struct err *e)
{
    struct wire_keep k;
    if (wire_read_keep(&l->message, &k, e))
        return -1;
    const struct slot *s = loop_find_slot(l, k.id);
    if (!s)
        return 0; /* it has ended meanwhile */
    if (!jar_is_session(s->jar))
        return err_set(e, ERR_PROTOCOL, 0, "the job %llu is no session", (unsigned long long)k.id);
    return jar_check_ends(l->message.fds, e) || kept_put(&l->kept, &k, l->message.fds, e) ? -1 : 0;
}

/* Tells the keeper of one session, and of its end if it ended without a keeper. */
static int tell(struct loop *l, struct kept *k, struct err *e)
{
    const struct slot *s = loop_find_slot(l, k->id);
    struct wire_kept w = { .id = k->id,
                           .started = s ? jar_has_started(s->jar) : k->started,
                           .start = s ? loop_start_of(s) : k->start,
                           .cell = s ? jar_cell_number(s->jar) : k->cell.number,
                           .note = k->note,
                           .note_len = k->note_len };
    if (wire_send_kept(l->wire_fd, &w, k->fds, e))
        return -1;
    k->told = true;
    if (s)
        jar_set_alone(s->jar, false);
    if (!k->ended)
        return 0;
    int rc = (k->cell.number && wire_send_cell_end(l->wire_fd, k->id, &k->cell, e)) ||
                     loop_send_ended(l, k->id, &k->outcome, false, e)
                 ? -1
                 : 0;
    kept_remove(&l->kept, k);
    return rc;
}

int keepers_on_adopt(struct loop *l, struct err *e)
{
    uint64_t after;
    if (wire_read_adopt(&l->message, &after, e))
        return -1;
    struct kept *k = kept_next(&l->kept, after);
    if (k)
        return tell(l, k, e);
    l->kept.adopt_by_us = UINT64_MAX;
    return wire_send_adopted(l->wire_fd, l->kept.n, e);
}

/* A jar is gone. True: its end waits for the next keeper. */
bool keepers_hold_end(struct loop *l, const struct slot *s, const struct jar_outcome *outcome,
                      const struct cell_usage *cell)
{
    struct kept *k = s->orphan ? NULL : kept_find(&l->kept, s->id);
    if (k && !k->told) {
        k->ended = true;
        k->outcome = *outcome;
        k->cell = cell ? *cell : (struct cell_usage){ 0 };
        k->started = jar_has_started(s->jar);
        k->start = loop_start_of(s);
        return true;
    }
    if (k)
        kept_remove(&l->kept, k);
    return s->orphan || l->wire_fd < 0;
}

/* No keeper has asked for these. */
void keepers_end_alone(struct loop *l, uint64_t now_us)
{
    if (now_us < l->kept.adopt_by_us)
        return;
    l->kept.adopt_by_us = UINT64_MAX;
    for (struct kept *k = l->kept.first, *next; k; k = next) {
        next = k->next;
        struct slot *s = k->told ? NULL : loop_find_slot(l, k->id);
        if (s) {
            s->orphan = true;
            jar_kill(s->jar, END_CANCEL);
        }
        if (!k->told)
            kept_remove(&l->kept, k);
    }
}

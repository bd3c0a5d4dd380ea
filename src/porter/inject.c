/* Connections that get a secret: the injector of the run speaks TLS with both ends. Runs in: porter.
 *
 * HANDOFF-1 The porter makes the connection to the host as for every other flow, and judges its address.
 *        It hands the connection over, and goes on between the guest and the injector. So caps, counts and
 *        records are those of every flow, and the porter sees no secret.
 * HANDOFF-2 A connection that needs a injector is never relayed without one. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "injector/messages.h"
#include "porter/porter_impl.h"

bool inject_wants(const struct flow *f)
{
    return f->record.name[0] &&
           network_policy_injects(&f->run->policy, f->record.name, f->record.port);
}

/* ---- its words ---- */

/* The plumber waits for the certificates. */
static void pass_trust_on(struct net *r, const int *fds, size_t n)
{
    struct plumbing_head head = { .first = PLUMBING_TRUST_HEAD, .all = PLUMBING_TRUST_FDS };
    struct iovec part = { &head, sizeof head };
    if (n != PLUMBING_TRUST_FDS ||
        fd_send(r->hand_over.fd, &part, 1, fds, n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        (void)shutdown(r->hand_over.fd, SHUT_WR); /* it does not wait for nothing */
}

static void take_report(struct net *r, const struct inject_report *word)
{
    struct flow *f = r->flows;
    while (f && f->record.id != word->id)
        f = f->next;
    if (!f || !f->injected || word->outcome == NETWORK_OPEN ||
        word->outcome >= NETWORK_OUTCOME_COUNT_)
        return;
    f->noted = (enum network_outcome)word->outcome;
    if (word->kind == INJECT_END)
        flow_end(f, f->noted);
}

/* 0: no more words now; -1: the injector is gone. */
static int take_word(struct net *r)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(PLUMBING_TRUST_FDS * sizeof(int))];
    } control;
    struct inject_report word;
    struct iovec part = { &word, sizeof word };
    struct msghdr m = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t got = recvmsg(r->injector.fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int fds[PLUMBING_TRUST_FDS];
    size_t n = c && c->cmsg_type == SCM_RIGHTS ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
    memcpy(fds, c ? CMSG_DATA(c) : (unsigned char *)fds, n * sizeof(int));
    if (got == (ssize_t)sizeof word && word.kind == INJECT_TRUST)
        pass_trust_on(r, fds, n);
    else if (got == (ssize_t)sizeof word)
        take_report(r, &word);
    while (n > 0)
        (void)close(fds[--n]);
    return got == (ssize_t)sizeof word ? 1 : -1;
}

static void on_injector(struct source *s, uint32_t events)
{
    struct net *r = (struct net *)((char *)s - offsetof(struct net, injector));
    struct flow *next;
    int taken = 1;
    (void)events;
    while (taken > 0)
        taken = take_word(r);
    if (taken == 0)
        return;
    source_close(s);
    if (r->hand_over.fd >= 0)
        (void)shutdown(r->hand_over.fd, SHUT_WR); /* a plumber may wait for certificates */
    for (struct flow *f = r->flows; f; f = next) {
        next = f->next;
        if (f->injected)
            flow_end(f, NETWORK_RESET);
    }
}

/* ---- its life ---- */

int inject_open(struct net *r, const struct wire_net *x, struct err *e)
{
    struct porter *p = r->porter;
    int ends[2];
    if (r->policy.n_injects == 0)
        return 0;
    if (p->injector.fd < 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "no process holds the secrets of this service");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_set(e, ERR_KERNEL, errno, "make the socket of a injector");
    autoclose int ours = ends[0], theirs = ends[1];
    if (wire_send_net_open(p->injector.fd, x, theirs, e))
        return -1;
    r->injector = (struct source){ .on_ready = on_injector, .fd = fd_take(&ours) };
    if (source_watch(p, &r->injector, EPOLLIN)) {
        source_close(&r->injector);
        return err_set(e, ERR_KERNEL, errno, "watch a injector");
    }
    return 0;
}

int inject_connect(struct flow *f)
{
    struct net *r = f->run;
    int ends[2];
    struct inject_connection c = { .id = f->record.id, .port = f->record.port };
    struct iovec part = { &c, sizeof c };
    (void)snprintf(c.host, sizeof c.host, "%s", f->record.name);
    f->injected = true;
    if (r->injector.fd < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return -1;
    autoclose int ours = ends[0], theirs = ends[1];
    const int fds[INJECT_CONNECTION_FDS] = {
        [INJECT_TO_GUEST] = theirs, [INJECT_TO_HOST] = f->remote.fd
    };
    if (fd_send(r->injector.fd, &part, 1, fds, INJECT_CONNECTION_FDS, MSG_DONTWAIT | MSG_NOSIGNAL) <
        0)
        return -1;
    /* a copy exists now, so close() would not take it out of epoll */
    (void)!source_watch(r->porter, &f->remote, 0);
    source_close(&f->remote);
    f->remote = (struct source){ .fd = fd_take(&ours) };
    return source_watch(r->porter, &f->remote, SOURCE_CHANGES);
}

/* Without it no run would get its secrets any more: the supervisor starts both anew. */
void inject_on_parent(struct source *s, uint32_t events)
{
    struct porter *p = (struct porter *)((char *)s - offsetof(struct porter, injector));
    (void)events;
    p->over = true;
}

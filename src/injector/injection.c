/* The injector of one run: its authority, and its connections. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "injector/authority.h"
#include "injector/injector.h"
#include "injector/link.h"
#include "injector/machine.h"
#include "injector/messages.h"
#include "jar/confinement.h"
#include "network/policy.h"

enum { EVENTS_MAX = 64 };

/* One host of the run. */
struct target {
    char host[NETWORK_NAME_MAX + 1];
    uint16_t port;
    SSL_CTX *context; /* with the certificate that the guest sees; NULL: not made yet */
    struct rewrite_rule rules[NETWORK_INJECTS_MAX];
    size_t n_rules;
};
struct injection {
    int fd, epoll_fd;
    const struct network_policy *policy;
    const struct injector_machine *machine;
    struct values *values;
    struct authority authority;
    struct target targets[NETWORK_INJECTS_MAX];
    size_t n_targets;
    struct link *links;
};

/* ---- its hosts ---- */

static struct target *find_target(struct injection *s, const char *host, uint32_t port)
{
    for (size_t i = 0; i < s->n_targets; i++)
        if (s->targets[i].port == port && strcmp(s->targets[i].host, host) == 0)
            return &s->targets[i];
    return NULL;
}

static void add_targets(struct injection *s)
{
    for (size_t i = 0; i < s->policy->n_injects; i++) {
        const struct network_inject *x = &s->policy->injects[i];
        struct target *t = find_target(s, x->host, x->port);
        if (!t) {
            t = &s->targets[s->n_targets++];
            t->port = x->port;
            memcpy(t->host, x->host, sizeof t->host);
        }
        t->rules[t->n_rules++] = (struct rewrite_rule){ x->header, x->prefix,
                                                        values_find(s->values, x->secret) };
    }
}

/* Wipes the values of other runs. */
static void forget_others(struct injection *s)
{
    for (size_t i = 0; i < s->values->n; i++) {
        bool used = false;
        for (size_t k = 0; k < s->policy->n_injects; k++)
            used = used || strcmp(s->policy->injects[k].secret, s->values->v[i].name) == 0;
        if (!used)
            explicit_bzero(s->values->v[i].text, sizeof s->values->v[i].text);
    }
}

/* http/1.1, or no such extension at all. */
static int choose_protocol(SSL *tls, const unsigned char **out, unsigned char *out_n,
                           const unsigned char *in, unsigned n, void *context)
{
    static const unsigned char http[] = "\x08http/1.1";
    unsigned char *chosen;
    (void)tls;
    (void)context;
    if (SSL_select_next_proto(&chosen, out_n, http, sizeof http - 1, in, n) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *context_of(struct injection *s, struct target *t)
{
    struct err ignored;
    if (t->context)
        return t->context;
    SSL_CTX *c = SSL_CTX_new(TLS_server_method());
    if (!c)
        return NULL;
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_options(c,
                              SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
    (void)SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_alpn_select_cb(c, choose_protocol, NULL);
    if (SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_num_tickets(c, 0) != 1 || authority_sign(&s->authority, t->host, c, &ignored)) {
        SSL_CTX_free(c);
        return NULL;
    }
    return t->context = c;
}

/* ---- words to the porter ---- */

static int memory_of(const struct buf *first, const struct buf *second, int *ret_fd, struct err *e)
{
    scoped(buf) all = { 0 };
    if (buf_add(&all, buf_str(first), first->len, e) ||
        (second && buf_add(&all, buf_str(second), second->len, e)))
        return -1;
    return fd_sealed_memory("belljar-trust", &all, ret_fd, e);
}

static int java_memory(const struct injection *s, const struct buf *own, int *ret_fd, struct err *e)
{
    scoped(java_store) added = { 0 };
    scoped(buf) store = { 0 };
    if (java_store_add(&added, "run", own, e) ||
        java_store_write(&s->machine->java, &added, &store, e))
        return -1;
    return memory_of(&store, NULL, ret_fd, e);
}

static int send_trust(struct injection *s, struct err *e)
{
    scoped(buf) own = { 0 };
    autoclose int alone = -1, bundle = -1, java = -1;
    struct inject_report word = { .kind = INJECT_TRUST };
    struct iovec part = { &word, sizeof word };
    if (authority_text(&s->authority, &own, e) || memory_of(&own, NULL, &alone, e) ||
        memory_of(&s->machine->bundle, &own, &bundle, e) || java_memory(s, &own, &java, e))
        return -1;
    const int fds[INJECT_TRUST_FDS] = {
        [PLUMBING_TRUST_OWN] = alone, [PLUMBING_TRUST_ALL] = bundle, [PLUMBING_TRUST_JAVA] = java
    };
    return fd_send(s->fd, &part, 1, fds, INJECT_TRUST_FDS, 0) < 0
               ? err_set(e, ERR_KERNEL, errno, "send the certificates")
               : 0;
}

static void report(void *context, const struct link *l, enum network_outcome outcome, bool ends)
{
    const struct injection *s = context;
    struct inject_report word = { ends ? INJECT_END : INJECT_NOTE, l->id, outcome };
    if (send(s->fd, &word, sizeof word, MSG_NOSIGNAL) < 0)
        _exit(1); /* the porter resets its connections then */
}

/* ---- connections ---- */

/* epoll tells about the end of both directions without being asked. The porter's end is worth to be
 * known at any time; that of the host must wait until its last bytes are read. */
static void watch(const struct injection *s, struct link *l, struct side *side)
{
    bool is_host = side == &l->host;
    uint32_t events = link_events(l, side);
    struct epoll_event ev = { .events = events, .data.ptr = side };
    bool wanted = side->fd >= 0 && !l->over && (events != 0 || !is_host);
    if (side->fd < 0)
        side->watched = false; /* close() has told epoll */
    if (side->fd < 0 || (wanted == side->watched && events == side->events))
        return;
    int how = !wanted ? EPOLL_CTL_DEL : side->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(s->epoll_fd, how, side->fd, &ev) < 0)
        l->over = true;
    side->watched = wanted;
    side->events = events;
}

static void drive(struct injection *s, struct link *l)
{
    if (l->over)
        return;
    link_drive(l, report, s);
    watch(s, l, &l->guest);
    watch(s, l, &l->host);
}

static void on_event(struct injection *s, const struct epoll_event *ev)
{
    struct side *side = ev->data.ptr;
    struct link *l = side->link;
    if (side == &l->guest && ev->events & (EPOLLHUP | EPOLLERR))
        l->over = true; /* the porter has ended it */
    drive(s, l);
}

static void free_over(struct injection *s)
{
    for (struct link **at = &s->links; *at;) {
        struct link *l = *at;
        if (!l->over) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        link_free(l);
    }
}

static void add_link(struct injection *s, const struct inject_connection *c, int guest_fd,
                     int host_fd)
{
    struct target *t = find_target(s, c->host, c->port);
    SSL_CTX *context = t ? context_of(s, t) : NULL;
    if (!context) {
        (void)close(guest_fd);
        (void)close(host_fd);
        return;
    }
    const struct rewrite rewrite = {
        .host = t->host, .port = t->port, .rules = t->rules, .n_rules = t->n_rules
    };
    struct link *l = link_new(c->id, guest_fd, context, host_fd, s->machine->outward, &rewrite);
    if (!l)
        return;
    l->next = s->links;
    s->links = l;
    drive(s, l);
}

/* Takes one connection. 0: there is none now; -1: the porter is gone. */
static int take_connection(struct injection *s)
{
    struct inject_connection c;
    struct iovec part = { &c, sizeof c };
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(INJECT_CONNECTION_FDS * sizeof(int))];
    } control;
    struct msghdr m = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n = recvmsg(s->fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    const struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    int fds[INJECT_CONNECTION_FDS];
    if (n != (ssize_t)sizeof c || !h || h->cmsg_type != SCM_RIGHTS ||
        h->cmsg_len != CMSG_LEN(sizeof fds) || m.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        return -1;
    memcpy(fds, CMSG_DATA(h), sizeof fds);
    c.host[sizeof c.host - 1] = '\0';
    add_link(s, &c, fds[INJECT_TO_GUEST], fds[INJECT_TO_HOST]);
    return 1;
}

static void loop(struct injection *s)
{
    for (;;) {
        struct epoll_event events[EVENTS_MAX];
        int n = epoll_wait(s->epoll_fd, events, EVENTS_MAX, -1);
        if (n < 0 && errno != EINTR)
            return;
        for (int i = 0; i < n; i++) {
            int taken = 1;
            if (events[i].data.ptr)
                on_event(s, &events[i]);
            else
                while (taken > 0)
                    taken = take_connection(s);
            if (taken < 0)
                return;
        }
        free_over(s);
    }
}

static int prepare(struct injection *s, struct err *e)
{
    const char *hosts[NETWORK_INJECTS_MAX];
    struct epoll_event ev = { .events = EPOLLIN };
    forget_others(s);
    add_targets(s);
    for (size_t i = 0; i < s->n_targets; i++)
        hosts[i] = s->targets[i].host;
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll_fd < 0 || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->fd, &ev) < 0)
        return err_set(e, ERR_KERNEL, errno, "wait for events");
    if (confinement_narrow(ROLE_INJECTOR, e) ||
        authority_make(&s->authority, hosts, s->n_targets, e))
        return -1;
    return send_trust(s, e);
}

void injection_run(int fd, const struct network_policy *policy, struct values *values,
                   const struct injector_machine *machine)
{
    static struct injection s;
    struct err e;
    s = (struct injection){ .fd = fd, .policy = policy, .values = values, .machine = machine };
    int rc = prepare(&s, &e);
    if (rc == 0)
        loop(&s);
    values_done(values);
    _exit(rc ? 1 : 0);
}

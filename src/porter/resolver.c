/* Names of the outside world, asked over c-ares with the servers of the machine. Only names that a
 * policy has come here. Runs in: porter. */
#include <ares.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/clock.h"
#include "porter/porter_impl.h"

enum { TIMEOUT_MS = 2000, TRIES = 2, ANSWER_PAYLOAD = 1232 };
/* Answers are remembered as long as they say, up to this. A remembered address is judged again before
 * each connection. */
enum { REMEMBERED = 64, REMEMBER_S = 30 };

/* A socket of c-ares. */
struct ares_source {
    struct source source;
    struct resolver *resolver;
    struct ares_source *next;
};

struct remembered {
    char name[NETWORK_NAME_MAX + 1];
    uint64_t until_us;
    size_t n;
    union target targets[TARGETS_MAX];
};

struct resolver {
    struct porter *porter;
    ares_channel channel;
    struct ares_source *sources;
    unsigned pending;
    struct remembered remembered[REMEMBERED];
};

struct query {
    struct resolver *resolver;
    query_done *done; /* NULL: nobody waits for it */
    void *context;
    uint16_t port;
    char name[NETWORK_NAME_MAX + 1];
    bool asking; /* ares_getaddrinfo() has not returned */
    bool over;
};

static void on_socket(struct source *s, uint32_t events)
{
    struct ares_source *a = (struct ares_source *)s;
    bool in = events & (EPOLLIN | EPOLLERR | EPOLLHUP), out = events & EPOLLOUT;
    ares_process_fd(a->resolver->channel, in ? s->fd : ARES_SOCKET_BAD,
                    out ? s->fd : ARES_SOCKET_BAD);
}

static struct ares_source *source_of(struct resolver *r, int fd)
{
    struct ares_source *free_one = NULL;
    for (struct ares_source *a = r->sources; a; a = a->next) {
        if (a->source.fd == fd)
            return a;
        free_one = a->source.fd < 0 ? a : free_one;
    }
    if (!free_one) {
        free_one = calloc(1, sizeof *free_one);
        if (!free_one)
            return NULL;
        free_one->next = r->sources;
        r->sources = free_one;
    }
    free_one->source = (struct source){ .on_ready = on_socket, .fd = fd };
    free_one->resolver = r;
    return free_one;
}

/* c-ares closes its sockets itself, which takes them out of epoll. */
static void on_state(void *data, ares_socket_t fd, int readable, int writable)
{
    struct resolver *r = data;
    struct ares_source *a = source_of(r, fd);
    uint32_t events = (readable ? EPOLLIN : 0u) | (writable ? EPOLLOUT : 0u);
    if (!a)
        return;
    if (events) {
        (void)!source_watch(r->porter, &a->source, events);
        return;
    }
    (void)epoll_ctl(r->porter->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    a->source.fd = -1;
    a->source.known = false;
}

int resolver_new(struct porter *p, struct resolver **ret, struct err *e)
{
    struct resolver *r = calloc(1, sizeof *r);
    if (!r)
        return err_no_memory(e, "the resolver");
    r->porter = p;
    struct ares_options o = { .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_EDNS,
                              .timeout = TIMEOUT_MS,
                              .tries = TRIES,
                              .ednspsz = ANSWER_PAYLOAD,
                              .lookups = (char *)"b", /* no file of the machine */
                              .sock_state_cb = on_state,
                              .sock_state_cb_data = r };
    int rc = ares_init_options(&r->channel, &o,
                               ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
                                   ARES_OPT_EDNSPSZ | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB);
    if (rc != ARES_SUCCESS) {
        free(r);
        return err_set(e, ERR_KERNEL, 0, "start the resolver: %s", ares_strerror(rc));
    }
    *ret = r;
    return 0;
}

void resolver_free(struct resolver *r)
{
    if (!r)
        return;
    ares_destroy(r->channel);
    while (r->sources) {
        struct ares_source *next = r->sources->next;
        free(r->sources);
        r->sources = next;
    }
    free(r);
}

static struct remembered *place_of(struct resolver *r, const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619u;
    return &r->remembered[hash % REMEMBERED];
}

static void set_ports(union target *targets, size_t n, uint16_t port)
{
    for (size_t i = 0; i < n; i++)
        if (targets[i].any.sa_family == AF_INET)
            targets[i].v4.sin_port = htons(port);
        else
            targets[i].v6.sin6_port = htons(port);
}

static void remember(struct resolver *r, const struct query *q, const struct ares_addrinfo *found,
                     const union target *targets, size_t n)
{
    struct remembered *m = place_of(r, q->name);
    int ttl_s = REMEMBER_S;
    for (const struct ares_addrinfo_node *a = found->nodes; a; a = a->ai_next)
        ttl_s = a->ai_ttl < ttl_s ? a->ai_ttl : ttl_s;
    if (n == 0 || ttl_s <= 0)
        return;
    (void)snprintf(m->name, sizeof m->name, "%s", q->name);
    memcpy(m->targets, targets, n * sizeof *targets);
    m->n = n;
    m->until_us = clock_us() + (uint64_t)ttl_s * 1000000;
}

static size_t copy_targets(const struct ares_addrinfo *found, union target ret[TARGETS_MAX])
{
    size_t n = 0;
    for (const struct ares_addrinfo_node *a = found->nodes; a && n < TARGETS_MAX; a = a->ai_next) {
        if (a->ai_family == AF_INET && a->ai_addrlen == sizeof(struct sockaddr_in)) {
            memcpy(&ret[n++].v4, a->ai_addr, sizeof ret[n].v4);
        } else if (a->ai_family == AF_INET6 && a->ai_addrlen == sizeof(struct sockaddr_in6)) {
            memcpy(&ret[n].v6, a->ai_addr, sizeof ret[n].v6);
            ret[n++].v6.sin6_scope_id = 0;
        }
    }
    return n;
}

static void on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *found)
{
    struct query *q = arg;
    union target targets[TARGETS_MAX];
    size_t n = 0;
    (void)timeouts;
    q->resolver->pending--;
    if (status == ARES_SUCCESS && found) {
        n = copy_targets(found, targets);
        set_ports(targets, n, q->port);
        remember(q->resolver, q, found, targets, n);
    }
    if (found)
        ares_freeaddrinfo(found);
    q->over = true;
    if (q->done)
        q->done(q->context, targets, n);
    if (!q->asking)
        free(q);
}

struct query *resolver_ask(struct resolver *r, const char *name, uint16_t port, query_done *done,
                           void *context)
{
    const struct ares_addrinfo_hints hints = { .ai_family = AF_UNSPEC,
                                               .ai_socktype = SOCK_STREAM,
                                               .ai_flags = ARES_AI_NOSORT };
    const struct remembered *m = place_of(r, name);
    if (m->n > 0 && clock_us() < m->until_us && strcmp(m->name, name) == 0) {
        union target targets[TARGETS_MAX];
        memcpy(targets, m->targets, m->n * sizeof *targets);
        set_ports(targets, m->n, port);
        done(context, targets, m->n);
        return NULL;
    }
    struct query *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    *q = (struct query){
        .resolver = r, .done = done, .context = context, .port = port, .asking = true
    };
    (void)snprintf(q->name, sizeof q->name, "%s", name);
    r->pending++;
    ares_getaddrinfo(r->channel, name, NULL, &hints, on_answer, q);
    q->asking = false;
    if (!q->over)
        return q;
    free(q);
    return NULL;
}

void resolver_forget(struct query *q)
{
    if (q)
        q->done = NULL;
}

int resolver_wait_ms(struct resolver *r, int most)
{
    struct timeval limit = { .tv_sec = most / 1000, .tv_usec = (most % 1000) * 1000L }, wait;
    if (r->pending == 0)
        return most;
    const struct timeval *t = ares_timeout(r->channel, most < 0 ? NULL : &limit, &wait);
    if (!t)
        return most;
    long ms = t->tv_sec * 1000 + (t->tv_usec + 999) / 1000;
    return most >= 0 && ms > most ? most : (int)ms;
}

void resolver_on_time(struct resolver *r)
{
    if (r->pending > 0)
        ares_process_fd(r->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

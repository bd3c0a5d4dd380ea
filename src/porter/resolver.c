/* Names of the outside world, asked over c-ares with the servers of the machine. Only names that a
 * policy has come here. Runs in: porter. */
#include <ares.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "porter/porter_impl.h"

enum { TIMEOUT_MS = 2000, TRIES = 2, ANSWER_PAYLOAD = 1232 };

/* A socket of c-ares. */
struct ares_source {
    struct source source;
    struct resolver *resolver;
    struct ares_source *next;
};

struct resolver {
    struct porter *porter;
    ares_channel channel;
    struct ares_source *sources;
    unsigned pending;
};

struct query {
    struct resolver *resolver;
    query_done *done; /* NULL: nobody waits for it */
    void *context;
    uint16_t port;
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

static size_t copy_targets(const struct ares_addrinfo *found, uint16_t port,
                           union target ret[TARGETS_MAX])
{
    size_t n = 0;
    for (const struct ares_addrinfo_node *a = found->nodes; a && n < TARGETS_MAX; a = a->ai_next) {
        if (a->ai_family == AF_INET && a->ai_addrlen == sizeof(struct sockaddr_in)) {
            memcpy(&ret[n].v4, a->ai_addr, sizeof ret[n].v4);
            ret[n++].v4.sin_port = htons(port);
        } else if (a->ai_family == AF_INET6 && a->ai_addrlen == sizeof(struct sockaddr_in6)) {
            memcpy(&ret[n].v6, a->ai_addr, sizeof ret[n].v6);
            ret[n].v6.sin6_scope_id = 0;
            ret[n++].v6.sin6_port = htons(port);
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
    if (status == ARES_SUCCESS && found)
        n = copy_targets(found, q->port, targets);
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
    struct query *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    *q = (struct query){
        .resolver = r, .done = done, .context = context, .port = port, .asking = true
    };
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

#include "cli/jupyter/sockets.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"

#if __has_include(<zmq.h>)
#include <zmq.h>

enum { PART_MAX_BYTES = 16 << 20, QUEUE_IN = 256, QUEUE_OUT = 1 << 16, LINGER_MS = 1000 };

#define ZMQ_FUNCTIONS(X) \
    X(zmq_ctx_new)       \
    X(zmq_ctx_term)      \
    X(zmq_socket)        \
    X(zmq_close)         \
    X(zmq_setsockopt)    \
    X(zmq_bind)          \
    X(zmq_poll)          \
    X(zmq_msg_init)      \
    X(zmq_msg_close)     \
    X(zmq_msg_recv)      \
    X(zmq_msg_data)      \
    X(zmq_msg_size)      \
    X(zmq_msg_more)      \
    X(zmq_send)          \
    X(zmq_strerror)

struct library {
#define X(name) __typeof__(&(name)) name;
    ZMQ_FUNCTIONS(X)
#undef X
};

struct sockets {
    struct library z;
    void *library, *context;
    void *socket[CHANNELS];
};

static const int kinds[CHANNELS] = {
    [CHANNEL_SHELL] = ZMQ_ROUTER, [CHANNEL_CONTROL] = ZMQ_ROUTER, [CHANNEL_STDIN] = ZMQ_ROUTER,
    [CHANNEL_IOPUB] = ZMQ_PUB,    [CHANNEL_HEARTBEAT] = ZMQ_REP,
};

static int load(struct sockets *s, struct err *e)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define X(name) { #name, offsetof(struct library, name) },
        ZMQ_FUNCTIONS(X)
#undef X
    };
    s->library = dlopen("libzmq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!s->library)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "a Jupyter kernel needs the library libzmq.so.5: 'apt-get install libzmq5' "
                       "installs it");
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        void *found = dlsym(s->library, functions[i].name);
        if (!found)
            return err_set(e, ERR_UNAVAILABLE, 0, "libzmq.so.5 has no function %s",
                           functions[i].name);
        memcpy((char *)&s->z + functions[i].offset, &found, sizeof found);
    }
    return 0;
}

static int set(struct sockets *s, void *socket, int option, int value)
{
    return s->z.zmq_setsockopt(socket, option, &value, sizeof value);
}

static int open_one(struct sockets *s, enum channel c, const char *endpoint, struct err *e)
{
    const int64_t part_max = PART_MAX_BYTES;
    void *socket = s->socket[c] = s->z.zmq_socket(s->context, kinds[c]);
    if (!socket || set(s, socket, ZMQ_LINGER, LINGER_MS) || set(s, socket, ZMQ_RCVHWM, QUEUE_IN) ||
        set(s, socket, ZMQ_SNDHWM, QUEUE_OUT) ||
        s->z.zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &part_max, sizeof part_max) ||
        (kinds[c] == ZMQ_ROUTER && set(s, socket, ZMQ_ROUTER_HANDOVER, 1)))
        return err_set(e, ERR_KERNEL, 0, "make a socket: %s", s->z.zmq_strerror(errno));
    if (s->z.zmq_bind(socket, endpoint))
        return err_set(e, ERR_UNAVAILABLE, 0, "bind %s: %s", endpoint, s->z.zmq_strerror(errno));
    return 0;
}

int sockets_open(struct sockets **ret, const struct connection *c, struct err *e)
{
    struct sockets *s = calloc(1, sizeof *s);
    if (!s)
        return err_no_memory(e, "the sockets");
    int rc = load(s, e);
    if (rc == 0 && !(s->context = s->z.zmq_ctx_new()))
        rc = err_set(e, ERR_KERNEL, 0, "start ZeroMQ: %s", s->z.zmq_strerror(errno));
    for (int i = 0; rc == 0 && i < CHANNELS; i++)
        rc = open_one(s, (enum channel)i, c->endpoint[i], e);
    if (rc) {
        sockets_free(s);
        return -1;
    }
    *ret = s;
    return 0;
}

void sockets_free(struct sockets *s)
{
    if (!s)
        return;
    for (int i = 0; i < CHANNELS; i++)
        if (s->socket[i])
            (void)s->z.zmq_close(s->socket[i]);
    if (s->context)
        (void)s->z.zmq_ctx_term(s->context);
    free(s); /* the library stays: its threads may be the last to leave it */
}

unsigned sockets_wait(struct sockets *s, unsigned channels, int fd, int timeout_ms, bool *ret_fd)
{
    zmq_pollitem_t items[CHANNELS + 1];
    enum channel of[CHANNELS + 1];
    unsigned ready = 0;
    int n = 0;
    *ret_fd = false;
    for (int i = 0; i < CHANNELS; i++) {
        if (!(channels & 1U << i))
            continue;
        of[n] = (enum channel)i;
        items[n++] = (zmq_pollitem_t){ .socket = s->socket[i], .events = ZMQ_POLLIN };
    }
    if (fd >= 0)
        items[n] = (zmq_pollitem_t){ .fd = fd, .events = ZMQ_POLLIN | ZMQ_POLLERR };
    if (s->z.zmq_poll(items, n + (fd >= 0), timeout_ms) <= 0)
        return 0;
    for (int i = 0; i < n; i++)
        if (items[i].revents)
            ready |= 1U << of[i];
    *ret_fd = fd >= 0 && items[n].revents;
    return ready;
}

bool sockets_receive(struct sockets *s, enum channel c, struct parts *ret)
{
    bool whole = true, more = true;
    struct err e;
    parts_done(ret);
    while (more) {
        zmq_msg_t m;
        if (s->z.zmq_msg_init(&m) || s->z.zmq_msg_recv(&m, s->socket[c], ZMQ_DONTWAIT) < 0)
            return false;
        /* All parts are read, also of a message that is not taken. */
        whole = whole && parts_add(ret, s->z.zmq_msg_data(&m), s->z.zmq_msg_size(&m), &e) == 0;
        more = s->z.zmq_msg_more(&m);
        (void)s->z.zmq_msg_close(&m);
    }
    return whole;
}

void sockets_send(struct sockets *s, enum channel c, const struct parts *p)
{
    for (size_t i = 0; i < p->n; i++) {
        int more = i + 1 < p->n ? ZMQ_SNDMORE : 0;
        if (s->z.zmq_send(s->socket[c], buf_str(&p->part[i]), p->part[i].len, ZMQ_DONTWAIT | more) <
            0)
            return;
    }
}

#else

int sockets_open(struct sockets **ret, const struct connection *c, struct err *e)
{
    (void)ret;
    (void)c;
    return err_set(e, ERR_UNAVAILABLE, 0,
                   "this belljar was built without the headers of ZeroMQ, which a Jupyter kernel "
                   "needs: install libzmq3-dev and build it again");
}

void sockets_free(struct sockets *s)
{
    (void)s;
}

unsigned sockets_wait(struct sockets *s, unsigned channels, int fd, int timeout_ms, bool *ret_fd)
{
    (void)s;
    (void)channels;
    (void)fd;
    (void)timeout_ms;
    *ret_fd = false;
    return 0;
}

bool sockets_receive(struct sockets *s, enum channel c, struct parts *ret)
{
    (void)s;
    (void)c;
    (void)ret;
    return false;
}

void sockets_send(struct sockets *s, enum channel c, const struct parts *p)
{
    (void)s;
    (void)c;
    (void)p;
}

#endif

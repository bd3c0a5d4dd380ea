/* Datagrams of a guest to one host, and the answers. Runs in: porter.
 *
 * DIALOG-1 As FLOW-1: the address that the guest sends to says which name is meant. Answers come from that
 *          address.
 * DIALOG-2 A dialog is on the account of a run as a connection is. Datagrams beyond a cap are dropped. */
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "porter/porter_impl.h"

enum { AT_ONCE = 32, DATAGRAM_MAX = 65535, HELD_MAX = 4, DIALOG_FDS = 1 };

struct dialog {
    struct dead dead;
    struct net *run;
    struct listener *at;
    union target guest, local; /* the two ends in the jar */
    struct source remote;
    struct query *query; /* NULL: its name is resolved */
    struct {
        char *bytes;
        size_t n;
    } held[HELD_MAX]; /* until the name is resolved */
    size_t n_held;
    uint64_t started_us, used_us;
    struct network_record record;
    struct dialog *next;
};

static void drop_held(struct dialog *d)
{
    for (size_t i = 0; i < d->n_held; i++)
        free(d->held[i].bytes);
    d->n_held = 0;
}

static void end_dialog(struct dialog *d, enum network_outcome outcome)
{
    struct net *r = d->run;
    struct dialog **at = &r->dialogs;
    while (*at && *at != d)
        at = &(*at)->next;
    if (!*at)
        return; /* it is over */
    *at = d->next;
    resolver_forget(d->query);
    source_close(&d->remote);
    drop_held(d);
    d->record.outcome = outcome;
    d->record.duration_us = clock_us() - d->started_us;
    net_record(r, &d->record);
    r->n_flows--;
    porter_give_fds(r->porter, DIALOG_FDS);
    porter_bury(r->porter, &d->dead);
}

void dialog_end_all(struct net *r, enum network_outcome outcome, enum network_cap cap)
{
    while (r->dialogs) {
        r->dialogs->record.cap = cap;
        end_dialog(r->dialogs, outcome);
    }
}

/* False: the cap of the run is met, and every connection of it has ended. */
static bool count(struct dialog *d, enum network_cap cap, size_t n)
{
    struct net *r = d->run;
    bool in = cap == NETWORK_CAP_BYTES_IN;
    uint64_t *used = in ? &r->bytes_in : &r->bytes_out;
    if (n > r->policy.caps.v[cap] - *used) {
        net_meet_cap(r, cap);
        return false;
    }
    *used += n;
    *(in ? &d->record.bytes_in : &d->record.bytes_out) += n;
    d->used_us = clock_us();
    return true;
}

/* ---- from the outside ---- */

static void answer(const struct dialog *d, const char *bytes, size_t n)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
    } control = { 0 };
    bool ipv4 = d->guest.any.sa_family == AF_INET;
    union target to = d->guest;
    struct iovec part = { (void *)bytes, n };
    struct msghdr msg = { .msg_name = &to,
                          .msg_namelen = ipv4 ? sizeof to.v4 : sizeof to.v6,
                          .msg_iov = &part,
                          .msg_iovlen = 1 };
    if (ipv4) {
        const struct in_pktinfo from = { .ipi_spec_dst = d->local.v4.sin_addr };
        msg.msg_control = &control;
        msg.msg_controllen = sizeof control;
        control.head = (struct cmsghdr){ .cmsg_level = IPPROTO_IP,
                                         .cmsg_type = IP_PKTINFO,
                                         .cmsg_len = CMSG_LEN(sizeof from) };
        memcpy(CMSG_DATA(&control.head), &from, sizeof from);
    }
    if (d->at->source.fd >= 0)
        (void)sendmsg(d->at->source.fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void on_remote(struct source *s, uint32_t events)
{
    struct dialog *d = (struct dialog *)((char *)s - offsetof(struct dialog, remote));
    static char bytes[DATAGRAM_MAX];
    (void)events;
    for (int i = 0; i < AT_ONCE && s->fd >= 0; i++) {
        ssize_t n = recv(s->fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            end_dialog(d, errno == ECONNREFUSED ? NETWORK_REFUSED : NETWORK_UNREACHABLE);
            return;
        }
        if (!count(d, NETWORK_CAP_BYTES_IN, (size_t)n))
            return;
        answer(d, bytes, (size_t)n);
    }
}

/* ---- to the outside ---- */

static void pass_on(struct dialog *d, const char *bytes, size_t n)
{
    if (count(d, NETWORK_CAP_BYTES_OUT, n))
        (void)send(d->remote.fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* -1: this address is out of the question. GATE-1: it is judged now. */
static int open_remote(struct dialog *d, const union target *t)
{
    bool ipv4 = t->any.sa_family == AF_INET;
    uint16_t port;
    (void)!address_of(&t->any, d->record.address, &port);
    if (!gate_is_open(&d->run->porter->gate, &t->any))
        return -1;
    autoclose int fd = socket(t->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, &t->any, ipv4 ? sizeof t->v4 : sizeof t->v6) < 0)
        return -1;
    d->remote = (struct source){ .on_ready = on_remote, .fd = fd_take(&fd) };
    if (source_watch(d->run->porter, &d->remote, EPOLLIN)) {
        source_close(&d->remote);
        return -1;
    }
    return 0;
}

static void on_addresses(void *context, const union target *targets, size_t n)
{
    struct dialog *d = context;
    d->query = NULL;
    for (size_t i = 0; i < n && d->remote.fd < 0; i++)
        (void)!open_remote(d, &targets[i]);
    if (d->remote.fd < 0) {
        end_dialog(d, n > 0 ? NETWORK_BLOCKED_ADDRESS : NETWORK_NO_NAME);
        return;
    }
    for (size_t i = 0; i < d->n_held && d->remote.fd >= 0; i++)
        pass_on(d, d->held[i].bytes, d->held[i].n);
    drop_held(d);
}

static void hold(struct dialog *d, const char *bytes, size_t n)
{
    char *copy = d->n_held < HELD_MAX ? malloc(n ? n : 1) : NULL;
    if (!copy)
        return; /* datagrams may get lost */
    memcpy(copy, bytes, n);
    d->held[d->n_held].bytes = copy;
    d->held[d->n_held++].n = n;
}

/* ---- from the guest ---- */

static bool is_same(const union target *a, const union target *b)
{
    uint8_t x[16], y[16];
    uint16_t port_x, port_y;
    return address_of(&a->any, x, &port_x) == 0 && address_of(&b->any, y, &port_y) == 0 &&
           port_x == port_y && memcmp(x, y, sizeof x) == 0;
}

static struct dialog *find(const struct net *r, const struct listener *at,
                           const union target *guest, const union target *local)
{
    for (struct dialog *d = r->dialogs; d; d = d->next)
        if (d->at == at && is_same(&d->guest, guest) && is_same(&d->local, local))
            return d;
    return NULL;
}

static struct dialog *new_dialog(struct net *r, struct listener *at, const union target *guest,
                                 const union target *local)
{
    if (!flow_has_room(r) || !porter_take_fds(r->porter, DIALOG_FDS))
        return NULL;
    struct dialog *d = calloc(1, sizeof *d);
    if (!d) {
        porter_give_fds(r->porter, DIALOG_FDS);
        return NULL;
    }
    *d = (struct dialog){ .run = r,
                          .at = at,
                          .guest = *guest,
                          .local = *local,
                          .remote = { .fd = -1 },
                          .started_us = clock_us(),
                          .record = { .id = ++r->next_record,
                                      .protocol = NETWORK_UDP,
                                      .cap = NETWORK_CAP_NONE,
                                      .start_ms = (uint64_t)clock_unix_ms() },
                          .next = r->dialogs };
    d->used_us = d->started_us;
    r->dialogs = d;
    r->n_flows++;
    r->flows_total++;
    return d;
}

static bool is_alive(const struct net *r, const struct dialog *d)
{
    for (const struct dialog *x = r->dialogs; x; x = x->next)
        if (x == d)
            return true;
    return false;
}

/* Begins a dialog with its first datagram. */
static void begin(struct net *r, struct listener *at, const union target *guest,
                  const union target *local, const char *bytes, size_t n)
{
    struct dialog *d = new_dialog(r, at, guest, local);
    if (!d)
        return;
    if (!flow_find_target(r, NETWORK_UDP, local, &d->record)) {
        end_dialog(d, NETWORK_DENIED_PORT);
        return;
    }
    hold(d, bytes, n);
    if (!d->record.name[0]) {
        on_addresses(d, local, 1);
        return;
    }
    struct query *q = resolver_ask(r->porter->resolver, d->record.name, d->record.port,
                                   on_addresses, d);
    if (!is_alive(r, d) || d->remote.fd >= 0)
        return; /* it was answered at once */
    d->query = q;
    if (!q)
        end_dialog(d, NETWORK_NO_NAME);
}

/* A listener at every address learns the target of each datagram. */
static ssize_t receive(const struct listener *l, char *bytes, union target *ret_guest,
                       union target *ret_local)
{
    union {
        struct cmsghdr head;
        char bytes[256];
    } control;
    struct iovec part = { bytes, DATAGRAM_MAX };
    struct msghdr msg = { .msg_name = ret_guest,
                          .msg_namelen = sizeof *ret_guest,
                          .msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = &control,
                          .msg_controllen = sizeof control };
    memset(ret_guest, 0, sizeof *ret_guest);
    ssize_t n = recvmsg(l->source.fd, &msg, MSG_DONTWAIT);
    if (n < 0)
        return -1;
    flow_listener_address(&l->at, ret_local);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo to;
            memcpy(&to, CMSG_DATA(c), sizeof to);
            ret_local->v4.sin_addr = to.ipi_addr;
        }
    return n;
}

void dialog_on_datagram(struct source *s, uint32_t events)
{
    struct listener *l = (struct listener *)s;
    struct net *r = l->run;
    static char bytes[DATAGRAM_MAX];
    (void)events;
    for (int i = 0; i < AT_ONCE && s->fd >= 0; i++) {
        union target guest, local;
        ssize_t n = receive(l, bytes, &guest, &local);
        if (n < 0)
            return;
        struct dialog *d = find(r, l, &guest, &local);
        if (!d)
            begin(r, l, &guest, &local, bytes, (size_t)n);
        else if (d->remote.fd >= 0)
            pass_on(d, bytes, (size_t)n);
        else
            hold(d, bytes, (size_t)n);
    }
}

/* ---- time, and a new policy ---- */

/* The end of a dialog is its silence. */
void dialog_on_time(struct net *r, uint64_t now_us)
{
    uint64_t idle_us = r->policy.caps.v[NETWORK_CAP_IDLE_MS] * 1000;
    struct dialog *next;
    for (struct dialog *d = r->dialogs; d; d = next) {
        next = d->next;
        if (d->remote.fd >= 0 && now_us - d->used_us > idle_us)
            end_dialog(d, NETWORK_CLOSED);
    }
}

void dialog_check_all(struct net *r)
{
    struct dialog *next;
    for (struct dialog *d = r->dialogs; d; d = next) {
        next = d->next;
        struct network_record again = { .cap = NETWORK_CAP_NONE };
        if (!flow_find_target(r, NETWORK_UDP, &d->local, &again))
            end_dialog(d, NETWORK_DENIED_PORT);
    }
}

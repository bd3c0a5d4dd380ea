/* The name server of each jar, at 127.0.0.1:53. It answers from the policy alone and asks nobody: a
 * question of a guest leaves the machine in no form. Runs in: porter. */
#include "porter/dns.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "porter/porter_impl.h"

enum { AT_ONCE = 32, STREAM_IDLE_US = 10 * 1000000 };

/* A library asks for A and AAAA. Both are one attempt. */
static void note_denied(struct net *r, const char *name)
{
    if (strcasecmp(name, r->denied) == 0)
        return;
    (void)snprintf(r->denied, sizeof r->denied, "%s", name);
    struct network_record record = { .outcome = NETWORK_DENIED_NAME,
                                     .cap = NETWORK_CAP_NONE,
                                     .start_ms = (uint64_t)clock_unix_ms() };
    (void)snprintf(record.name, sizeof record.name, "%s", name);
    net_record(r, &record);
}

static struct dns_answer answer_of(struct net *r, const struct dns_question *q)
{
    uint32_t ipv4;
    if (!q->standard || (q->class != DNS_CLASS_IN && q->class != DNS_TYPE_ANY))
        return (struct dns_answer){ .kind = DNS_REFUSED };
    const char *pointer = dns_reverse(q->name, &ipv4) ? net_name_at(r, ipv4) : NULL;
    if (pointer)
        return (struct dns_answer){ .kind = q->type == DNS_TYPE_PTR ? DNS_POINTER : DNS_EMPTY,
                                    .pointer = pointer };
    if (q->name[0] == '\0' || !network_policy_knows_name(&r->policy, q->name)) {
        if (q->name[0] && q->type != DNS_TYPE_PTR)
            note_denied(r, q->name);
        return (struct dns_answer){ .kind = DNS_BLOCKED };
    }
    if (q->type != DNS_TYPE_A && q->type != DNS_TYPE_ANY)
        return (struct dns_answer){ .kind = DNS_EMPTY };
    ipv4 = net_address_of(r, q->name);
    return (struct dns_answer){ .kind = ipv4 ? DNS_ADDRESS : DNS_REFUSED, .ipv4 = ipv4 };
}

static size_t answer(struct net *r, const uint8_t *query, size_t n, uint8_t out[DNS_ANSWER_MAX])
{
    struct dns_question q;
    if (dns_read(query, n, &q))
        return 0;
    struct dns_answer a = answer_of(r, &q);
    return dns_write(query, &q, &a, out);
}

void dns_on_datagram(struct source *s, uint32_t events)
{
    struct net *r = ((struct listener *)s)->run;
    (void)events;
    for (int i = 0; i < AT_ONCE; i++) {
        uint8_t query[DNS_QUERY_MAX], out[DNS_ANSWER_MAX];
        struct sockaddr_in from;
        socklen_t len = sizeof from;
        ssize_t n = recvfrom(s->fd, query, sizeof query, MSG_DONTWAIT | MSG_TRUNC,
                             (struct sockaddr *)&from, &len);
        if (n < 0)
            return;
        size_t m = (size_t)n <= sizeof query ? answer(r, query, (size_t)n, out) : 0;
        if (m > 0)
            (void)sendto(s->fd, out, m, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&from, len);
    }
}

/* ---- over TCP ---- */

static void on_stream(struct source *s, uint32_t events)
{
    struct dns_stream *d = (struct dns_stream *)s;
    (void)events;
    ssize_t n = recv(s->fd, d->bytes + d->have, sizeof d->bytes - d->have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        source_close(s);
        return;
    }
    d->have += (size_t)n;
    d->used_us = clock_us();
    while (d->have >= 2) {
        size_t length = (size_t)(d->bytes[0] << 8 | d->bytes[1]);
        uint8_t out[2 + DNS_ANSWER_MAX];
        if (length > sizeof d->bytes - 2) {
            source_close(s);
            return;
        }
        if (d->have < 2 + length)
            return;
        size_t m = answer(d->run, d->bytes + 2, length, out + 2);
        out[0] = (uint8_t)(m >> 8);
        out[1] = (uint8_t)m;
        if (m == 0 || send(s->fd, out, m + 2, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)(m + 2)) {
            source_close(s);
            return;
        }
        d->have -= 2 + length;
        memmove(d->bytes, d->bytes + 2 + length, d->have);
    }
}

void dns_on_connection(struct source *s, uint32_t events)
{
    struct net *r = ((struct listener *)s)->run;
    struct dns_stream *d = &r->streams[0];
    (void)events;
    int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno != EAGAIN && errno != EINTR)
            net_pause(r);
        return;
    }
    for (int i = 0; i < DNS_STREAMS; i++) { /* a free one, or the one that was used longest ago */
        if (r->streams[i].source.fd < 0) {
            d = &r->streams[i];
            break;
        }
        d = r->streams[i].used_us < d->used_us ? &r->streams[i] : d;
    }
    source_close(&d->source);
    *d = (struct dns_stream){ .source = { .on_ready = on_stream, .fd = fd },
                              .run = r,
                              .used_us = clock_us() };
    if (source_watch(r->porter, &d->source, EPOLLIN))
        source_close(&d->source);
}

void dns_on_time(struct net *r, uint64_t now_us)
{
    for (int i = 0; i < DNS_STREAMS; i++)
        if (r->streams[i].source.fd >= 0 && now_us - r->streams[i].used_us > STREAM_IDLE_US)
            source_close(&r->streams[i].source);
}

void dns_close(struct net *r)
{
    source_close(&r->dns_udp.source);
    source_close(&r->dns_tcp.source);
    for (int i = 0; i < DNS_STREAMS; i++)
        source_close(&r->streams[i].source);
}

/* injector/rewrite.h — the requests of a guest, with the headers that carry secrets. Pure.
 * Runs in: the injector of one run. The bytes are a guest's.
 *
 * Invariants
 * REWRITE-1 Nothing of a head is passed on as it came. It is parsed (http/parse.h, which refuses each
 *           ambiguous request), and written anew from its parts.
 * REWRITE-2 Each request has each header of the rules exactly once, with the value of the rule.
 * REWRITE-3 Each request is for the host of the rules: its Host is that host, and its target is a path.
 * REWRITE-4 A body is written with the length that was checked, or in chunks of our own. So the server
 *           sees the end of a request where this code saw it. Trailers and extensions are dropped.
 * REWRITE-5 No request asks the server to become another protocol or to send the request back: CONNECT,
 *           TRACE and Upgrade do not get through. */
#pragma once

#include "base/buf.h"
#include "http/parse.h"

struct rewrite_rule {
    const char *header, *prefix, *value;
};

struct rewrite {
    const char *host;
    uint16_t port;
    const struct rewrite_rule *rules;
    size_t n_rules;
    /* its state; zeros at the beginning */
    int state;
    uint64_t left; /* bytes of a counted body */
    struct buf pending;
    struct head_scan scan;
    struct http_head head;
    struct chunks chunks;
    struct buf body;
    uint64_t requests; /* heads that were passed on */
};
void rewrite_done(struct rewrite *w);
/* Appends the bytes for the server to *out. -1: the request is refused, and nothing
 * of its head was appended. The connection is of no use then. */
[[nodiscard]] int rewrite_feed(struct rewrite *w, const char *bytes, size_t n, struct buf *out,
                               struct refusal *r);
/* Whether the guest may end here: no request is in the middle. */
bool rewrite_is_between(const struct rewrite *w);

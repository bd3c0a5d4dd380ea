/* porter/gate.h — the last look at an address before a connection is made to it.
 * Runs in: porter.
 *
 * GATE-1 An address is judged right before connect(), and connect() gets the same bytes: between the
 *        two there is no name that could change its address.
 * GATE-2 The kernel itself is asked which addresses are the machine's own, each time. An address of
 *        which it does not know is refused. The same holds for IPv4 addresses inside of it.
 * GATE-3 IPv4 addresses that are written as IPv6 ones (::ffff:a.b.c.d) are refused. */
#pragma once

#include "network/address.h"

struct gate {
    struct address_rules rules; /* without addresses of the machine */
    int route_fd;               /* asks for routes */
    uint64_t own_cookie;        /* of our network namespace, which no jar has */
    uint32_t asked;             /* questions */
};

/* Before the process gives up its rights. */
[[nodiscard]] int gate_open(struct gate *g, struct err *e);
void gate_done(struct gate *g);
bool gate_is_open(struct gate *g, const struct sockaddr *sa);

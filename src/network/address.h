/* network/address.h — the addresses that no run reaches, even if its list has them.
 * Runs in: porter, which asks for each connection; keeper, for literal addresses of a request. Pure.
 *
 * Invariants
 * ADDRESS-1 An address is judged together with every IPv4 address inside it: IPv4-mapped,
 *           IPv4-compatible and translated forms, NAT64, 6to4, Teredo (server and client) and ISATAP.
 *           One refused part refuses the whole.
 * ADDRESS-2 An address of the machine itself, and all of 127.0.0.0/8, is open only if the operator
 *           wrote exactly this address, without a prefix.
 * ADDRESS-3 Nothing opens a listener of the service, the unspecified address, multicast or 240/4. */
#pragma once

#include <netinet/in.h>

#include "network/address_set.h"

enum address_verdict {
    ADDRESS_OPEN,
    ADDRESS_SPECIAL,    /* loopback, private, link-local, multicast, reserved, ... */
    ADDRESS_OF_HOST,    /* of this machine */
    ADDRESS_OF_SERVICE, /* a listener of the service */
};

struct address_endpoint {
    uint8_t address[16]; /* unspecified: every address of this machine */
    uint16_t port;
};

struct address_rules {
    struct address_set private_ranges; /* that the operator opened: network.private */
    struct address_set host;           /* addresses of this machine */
    struct address_endpoint *listeners;
    size_t n_listeners;
};

/* The port matters only for listeners. */
enum address_verdict address_judge(const struct address_rules *rules, const struct sockaddr *sa);
bool address_is_refused(const struct address_rules *rules, const struct sockaddr *sa);
enum { ADDRESS_INNER_MAX = 8 };
/* The IPv4 addresses inside an IPv6 address of a tunnel or a translation. Returns their number. */
size_t address_inner(const struct sockaddr *sa, struct sockaddr_in ret[ADDRESS_INNER_MAX]);
/* The same for an address without a port. */
enum address_verdict address_judge_bytes(const struct address_rules *rules,
                                         const uint8_t address[16], uint16_t port);
/* "a private address", for messages: of the table's row that refuses it; NULL: it is open. */
const char *address_kind(const uint8_t address[16]);

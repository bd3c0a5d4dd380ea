/* network/policy.h — the hosts that one run may reach: none, a list, or every public host.
 * Runs in: main, keeper and supervisor, which parse it; porter, which enforces it. Pure.
 *
 * Invariants
 * POLICY-1 An empty list is the mode `none`. No parser and no reader makes another mode of it.
 * POLICY-2 Each rule is in its one form: a name as network/name.h has it, or 16 bytes of an address.
 *          network_policy_decode() checks this again.
 * POLICY-3 A rule is about one host, one protocol and one port; or about every TCP port of one host, which is no
 *          wildcard. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "network/caps.h"
#include "network/inject.h"
#include "network/name.h"

enum network_mode { NETWORK_NONE, NETWORK_LIST, NETWORK_FULL, NETWORK_MODE_COUNT_ };

enum network_host {
    NETWORK_HOST_NAME,
    NETWORK_HOST_SUBDOMAINS, /* *.example.org: every name beneath it, not the name itself */
    NETWORK_HOST_ADDRESS,
    NETWORK_HOST_COUNT_
};

enum network_protocol { NETWORK_TCP, NETWORK_UDP, NETWORK_PROTOCOL_COUNT_ };

enum {
    NETWORK_RULES_MAX = 256,
    NETWORK_EVERY_PORT = 0,                    /* "HOST:*" */
    NETWORK_RULE_TEXT = NETWORK_NAME_MAX + 16, /* "udp:*." NAME ":65535" and a NUL */
    NETWORK_ENCODED_MAX = 84 << 10,
};

struct network_rule {
    enum network_host host;
    enum network_protocol protocol;
    uint16_t port;                   /* or NETWORK_EVERY_PORT */
    uint8_t address[16];             /* of an address; IPv4 as ::ffff:a.b.c.d */
    char name[NETWORK_NAME_MAX + 1]; /* of a name; of SUBDOMAINS without the "*." */
};

struct network_policy {
    enum network_mode mode;
    struct network_caps caps;
    size_t n; /* 0 unless the mode is NETWORK_LIST */
    struct network_rule *rules;
    size_t n_injects; /* of hosts that the rules open */
    struct network_inject *injects;
};

void network_policy_done(struct network_policy *p);
[[nodiscard]] int network_policy_copy(const struct network_policy *p, struct network_policy *ret,
                                      struct err *e);

#define NETWORK_RULE_ACCEPTED \
    "pypi.org, pypi.org:443, *.example.org:443, 203.0.113.7:8080, [2001:db8::7]:443"
/* Whether a rule is right in itself: only TCP has every port, and only of a host that is no wildcard. */
bool network_rule_port_is_sane(const struct network_rule *rule);
/* Adds the rules of "HOST[:PORT]"; without a port there are two, 443 and 80. "udp:HOST:PORT" is a rule
 * for UDP in any case. The policy is in mode NETWORK_LIST afterwards, unless it is in mode
 * NETWORK_FULL. A rule that the policy has already is not added again. */
[[nodiscard]] int network_policy_add(struct network_policy *p, enum network_protocol protocol,
                                     const char *text, struct err *e);
/* 0.0.0.0 and :: are no hosts: a socket there is at every address. */
bool network_rule_is_unspecified(const struct network_rule *rule);
/* The same for a rule that is parsed. */
[[nodiscard]] int network_policy_add_rule(struct network_policy *p, const struct network_rule *rule,
                                          struct err *e);
/* The host is in the list, and has no other secret in this header. */
[[nodiscard]] int network_policy_add_inject(struct network_policy *p,
                                            const struct network_inject *inject, struct err *e);
/* Whether connections to this name and port get a header. */
bool network_policy_injects(const struct network_policy *p, const char *name, uint16_t port);
/* "pypi.org:443", "udp:ntp.example.org:123", "[2001:db8::7]:443" */
const char *network_rule_text(const struct network_rule *rule, char out[NETWORK_RULE_TEXT]);
enum { NETWORK_LIST_SHOWN = 120 }; /* room for a list in a sentence */
/* "none", "full", or the rules with commas, cut with "..." and a count. */
const char *network_policy_text(const struct network_policy *p, char *out, size_t size);
/* A wildcard in the place where registries sell names to strangers: *.co.uk, *.github.io. */
bool network_rule_is_broad(const struct network_rule *rule);

/* Names in any case, with or without a dot at the end, as a guest asks for them. */
/* Whether some rule is about the name, at any port. Mode full: every name. */
bool network_policy_knows_name(const struct network_policy *p, const char *name);
/* The index of the first rule that opens the port of the name; -1: none. Mode full: 0. */
long network_policy_match_name(const struct network_policy *p, const char *name,
                               enum network_protocol protocol, uint16_t port);
/* The same for an address that the guest chose itself. */
long network_policy_match_address(const struct network_policy *p, const uint8_t address[16],
                                  enum network_protocol protocol, uint16_t port);
/* Whether everything that `inner` opens is open in `outer`, and no cap is higher. If a rule is not,
 * *ret_outside is the first such rule; NULL: the mode or a cap is. */
bool network_policy_is_within(const struct network_policy *inner,
                              const struct network_policy *outer,
                              const struct network_rule **ret_outside);

/* Whether `inner` has some ports of a host in place of every port in `outer`: that host needs other sockets. */
bool network_policy_splits_host(const struct network_policy *inner,
                                const struct network_policy *outer);

/* Whether `outer` has every header with a secret that `inner` has. */
bool network_policy_has_injects(const struct network_policy *outer,
                                const struct network_policy *inner);

/* Appends at most NETWORK_ENCODED_MAX bytes. */
[[nodiscard]] int network_policy_encode(const struct network_policy *p, struct buf *b,
                                        struct err *e);
/* Reads all of the bytes, or fails with ERR_PROTOCOL. */
[[nodiscard]] int network_policy_decode(const void *bytes, size_t n, struct network_policy *ret,
                                        struct err *e);

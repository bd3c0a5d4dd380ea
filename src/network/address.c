#include "network/address.h"

#include <string.h>

#include "base/array.h"

enum effect {
    CLOSED,  /* unless the operator lists the address or a range around it */
    EXACT,   /* unless the operator lists exactly this address */
    FOREVER, /* always */
};

#define V4(a, b, c, d)                                                           \
    {                                                                            \
        [10] = 0xff, [11] = 0xff, [12] = (a), [13] = (b), [14] = (c), [15] = (d) \
    }

/* The first row that has the address counts. */
static const struct {
    struct address_range range;
    enum effect effect;
    const char *kind;
} special[] = {
    { { V4(0, 0, 0, 0), 104 }, FOREVER, "an address of \"this network\"" },
    { { V4(10, 0, 0, 0), 104 }, CLOSED, "a private address" },
    { { V4(100, 64, 0, 0), 106 }, CLOSED, "a carrier's private address" },
    { { V4(127, 0, 0, 0), 104 }, EXACT, "a loopback address" },
    { { V4(168, 63, 129, 16), 128 }, CLOSED, "an address of a cloud's own services" },
    { { V4(169, 254, 0, 0), 112 }, CLOSED, "a link-local address" },
    { { V4(172, 16, 0, 0), 108 }, CLOSED, "a private address" },
    { { V4(192, 0, 0, 0), 120 }, CLOSED, "a reserved address" },
    { { V4(192, 0, 2, 0), 120 }, CLOSED, "an address for documents" },
    { { V4(192, 88, 99, 0), 120 }, CLOSED, "a relay address" },
    { { V4(192, 168, 0, 0), 112 }, CLOSED, "a private address" },
    { { V4(198, 18, 0, 0), 111 }, CLOSED, "an address for benchmarks" },
    { { V4(198, 51, 100, 0), 120 }, CLOSED, "an address for documents" },
    { { V4(203, 0, 113, 0), 120 }, CLOSED, "an address for documents" },
    { { V4(224, 0, 0, 0), 100 }, FOREVER, "a multicast address" },
    { { V4(240, 0, 0, 0), 100 }, FOREVER, "a reserved address" },
    { { { 0 }, 128 }, FOREVER, "the unspecified address" },
    { { { [15] = 1 }, 128 }, EXACT, "a loopback address" },
    { { { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48 }, CLOSED, "a local NAT64 address" },
    { { { 0x20, 0x01, 0x00, 0x02 }, 48 }, CLOSED, "an address for benchmarks" },
    { { { 0x20, 0x01, 0x00, 0x10 }, 28 }, CLOSED, "a reserved address" },
    { { { 0x20, 0x01, 0x00, 0x20 }, 28 }, CLOSED, "a reserved address" },
    { { { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, CLOSED, "an address for documents" },
    { { { 0x3f, 0xff }, 20 }, CLOSED, "an address for documents" },
    { { { 0xfc }, 7 }, CLOSED, "a private address" },
    { { { 0xfe, 0x80 }, 10 }, CLOSED, "a link-local address" },
    { { { 0xfe, 0xc0 }, 10 }, CLOSED, "a private address" },
    { { { 0xff }, 8 }, FOREVER, "a multicast address" },
};

/* Forms of IPv6 addresses with an IPv4 address at `at`; in Teredo the client's is inverted. */
static const struct {
    struct address_range range;
    unsigned at;
    bool inverted;
} tunnels[] = {
    { { { 0 }, 96 }, 12, false },                      /* ::a.b.c.d */
    { { { [8] = 0xff, [9] = 0xff }, 96 }, 12, false }, /* ::ffff:0:a.b.c.d */
    { { { 0x00, 0x64, 0xff, 0x9b }, 96 }, 12, false }, /* NAT64 */
    { { { 0x20, 0x02 }, 16 }, 2, false },              /* 6to4 */
    { { { 0x20, 0x01, 0x00, 0x00 }, 32 }, 4, false },  /* Teredo: server */
    { { { 0x20, 0x01, 0x00, 0x00 }, 32 }, 12, true },  /* Teredo: client */
};

static const struct address_range global = { { 0x20 }, 3 };
static const struct address_range nat64 = { { 0x00, 0x64, 0xff, 0x9b }, 96 };
static const struct address_range ipv4 = { { [10] = 0xff, [11] = 0xff }, 96 };

static bool is_unspecified(const uint8_t address[16])
{
    static const uint8_t v6[16], v4[16] = V4(0, 0, 0, 0);
    return memcmp(address, v6, 16) == 0 || memcmp(address, v4, 16) == 0;
}

static long special_row(const uint8_t address[16])
{
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (address_range_has(&special[i].range, address))
            return (long)i;
    return -1;
}

/* Only these ranges have ever been given to networks. */
static bool is_assigned(const uint8_t address[16])
{
    return address_range_has(&global, address) || address_range_has(&nat64, address) ||
           address_range_has(&ipv4, address);
}

static bool is_of_host(const struct address_rules *rules, const uint8_t address[16])
{
    long row = special_row(address);
    return address_set_has(&rules->host, address) || (row >= 0 && special[row].effect == EXACT);
}

static bool is_listener(const struct address_rules *rules, const uint8_t address[16], uint16_t port)
{
    for (size_t i = 0; i < rules->n_listeners; i++) {
        const struct address_endpoint *l = &rules->listeners[i];
        if (l->port == port && (memcmp(l->address, address, 16) == 0 ||
                                (is_unspecified(l->address) && is_of_host(rules, address))))
            return true;
    }
    return false;
}

/* One address, without the ones inside it. */
static enum address_verdict judge_one(const struct address_rules *rules, const uint8_t address[16],
                                      uint16_t port)
{
    long row = special_row(address);
    if (is_listener(rules, address, port))
        return ADDRESS_OF_SERVICE;
    if (row >= 0 && special[row].effect == FOREVER)
        return ADDRESS_SPECIAL;
    if (is_of_host(rules, address))
        return address_set_names(&rules->private_ranges, address) ? ADDRESS_OPEN : ADDRESS_OF_HOST;
    if (row < 0 && is_assigned(address))
        return ADDRESS_OPEN;
    return address_set_has(&rules->private_ranges, address) ? ADDRESS_OPEN : ADDRESS_SPECIAL;
}

/* The i-th IPv4 address inside an IPv6 address; false: there is none at i. */
static bool inner_address(const uint8_t address[16], size_t i, uint8_t ret[16])
{
    static const uint8_t isatap[] = { 0x00, 0x00, 0x5e, 0xfe };
    unsigned at = 12;
    bool inverted = false;
    if (i < ARRAY_LEN(tunnels)) {
        if (!address_range_has(&tunnels[i].range, address))
            return false;
        at = tunnels[i].at;
        inverted = tunnels[i].inverted;
    } else if ((address[8] & 0xfdU) != isatap[0] || memcmp(address + 9, isatap + 1, 3) != 0) {
        return false;
    }
    memset(ret, 0, 10);
    ret[10] = ret[11] = 0xff;
    for (unsigned k = 0; k < 4; k++)
        ret[12 + k] = (uint8_t)(inverted ? ~address[at + k] : address[at + k]);
    return true;
}

/* The two addresses that have the shape of IPv4-compatible ones. */
static bool has_no_inner(const uint8_t address[16])
{
    static const uint8_t loopback[16] = { [15] = 1 };
    return is_unspecified(address) || memcmp(address, loopback, 16) == 0 ||
           address_range_has(&ipv4, address);
}

size_t address_inner(const struct sockaddr *sa, struct sockaddr_in ret[ADDRESS_INNER_MAX])
{
    const uint8_t *address = ((const struct sockaddr_in6 *)sa)->sin6_addr.s6_addr;
    uint8_t inner[16];
    size_t n = 0;
    if (sa->sa_family != AF_INET6)
        return 0;
    for (size_t i = 0; !has_no_inner(address) && i <= ARRAY_LEN(tunnels); i++) {
        if (n == ADDRESS_INNER_MAX || !inner_address(address, i, inner))
            continue;
        ret[n] = (struct sockaddr_in){ .sin_family = AF_INET };
        memcpy(&ret[n++].sin_addr, inner + 12, 4);
    }
    return n;
}

enum address_verdict address_judge_bytes(const struct address_rules *rules,
                                         const uint8_t address[16], uint16_t port)
{
    uint8_t inner[16];
    for (size_t i = 0; !has_no_inner(address) && i <= ARRAY_LEN(tunnels); i++) {
        if (!inner_address(address, i, inner))
            continue;
        enum address_verdict v = judge_one(rules, inner, port);
        if (v != ADDRESS_OPEN)
            return v;
    }
    return judge_one(rules, address, port);
}

enum address_verdict address_judge(const struct address_rules *rules, const struct sockaddr *sa)
{
    uint8_t address[16];
    uint16_t port;
    if (address_of(sa, address, &port))
        return ADDRESS_SPECIAL;
    return address_judge_bytes(rules, address, port);
}

bool address_is_refused(const struct address_rules *rules, const struct sockaddr *sa)
{
    return address_judge(rules, sa) != ADDRESS_OPEN;
}

const char *address_kind(const uint8_t address[16])
{
    uint8_t inner[16];
    for (size_t i = 0; !has_no_inner(address) && i <= ARRAY_LEN(tunnels); i++)
        if (inner_address(address, i, inner) && special_row(inner) >= 0)
            return special[special_row(inner)].kind;
    long row = special_row(address);
    if (row >= 0)
        return special[row].kind;
    return is_assigned(address) ? NULL : "a reserved address";
}

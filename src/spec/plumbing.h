/* spec/plumbing.h — the sockets that a jar with a network needs inside its own network namespace.
 * Runs in: keeper, which derives it from a policy; warden, which makes the sockets; porter, which
 * gets them. Pure. No name is in it: the warden knows no host of a policy. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    PLUMBING_LISTENERS_MAX = 256,
    /* A rule of nf_tables leads every TCP port of an address to one socket, at its port NFT_CATCH_PORT. */
    PLUMBING_EVERY_PORT = 0,
    PLUMBING_EVERY_PORT_MAX = 16, /* such addresses */
    /* The porter gets the sockets in datagrams of this many at most. */
    PLUMBING_FDS = 16,
};

/* The descriptors are numbered: first the sockets of the name server, then the counters that the kernel
 * has of the namespace (files of /proc, for IPv4 and IPv6), then the listeners in their order. */
enum { PLUMBED_DNS_UDP, PLUMBED_DNS_TCP, PLUMBED_COUNTERS, PLUMBED_COUNTERS6, PLUMBED_LISTENERS };

/* Names have addresses of this network inside a jar (198.18.0.0/15, which RFC 2544 sets aside). All
 * of it is local there. */
#define SYNTHETIC_NET UINT32_C(0xC6120000)
enum { SYNTHETIC_PREFIX = 15 };

/* The sockets of the porter for every address are at this one, which no name has. Connections to every
 * port go to one port, which no guest can bind. */
#define NFT_CATCH_ADDRESS (SYNTHETIC_NET + 1)
enum { NFT_CATCH_PORT = 1 };
#define NFT_CATCH_ADDRESS6               \
    {                                    \
        0x01, [15] = 1 /* of 100::/64 */ \
    }

enum plumbing_protocol { PLUMBING_TCP, PLUMBING_UDP, PLUMBING_PROTOCOLS_ };

struct plumbing_listener {
    uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d; 0.0.0.0: every address but loopback */
    uint16_t port;       /* or PLUMBING_EVERY_PORT, of an address that is not 0.0.0.0 */
    uint8_t protocol;
};

/* The files of certificates for a jar with an authority of its own. */
enum { PLUMBING_TRUST_OWN, PLUMBING_TRUST_ALL, PLUMBING_TRUST_JAVA, PLUMBING_TRUST_FDS };

struct plumbing {
    bool full;   /* every address and every port leads to the listeners at NFT_CATCH_PORT */
    bool trusts; /* the jar gets an authority of its own; the porter sends its files */
    uint32_t n;
    struct plumbing_listener at[PLUMBING_LISTENERS_MAX];
};

/* The head of a datagram with sockets: the number of the first one, and their number in all. That of
 * the datagram with certificates has no such number. used: guest code was in the namespace before, so its
 * counters do not begin at zero. */
#define PLUMBING_TRUST_HEAD UINT32_MAX
/* The head of a datagram without descriptors: the program of the jar has ended, and its other processes are being
 * killed. A porter that has no connection of it need not wait for the end of the pair. */
#define PLUMBING_END_HEAD   (UINT32_MAX - 1)
struct plumbing_head {
    uint32_t first, all, used;
};

static inline bool plumbing_is_ipv4(const uint8_t address[16])
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    return memcmp(address, mapped, sizeof mapped) == 0;
}

/* In the order of the host. */
static inline uint32_t plumbing_ipv4(const uint8_t address[16])
{
    return (uint32_t)address[12] << 24 | (uint32_t)address[13] << 16 | (uint32_t)address[14] << 8 |
           address[15];
}

static inline void plumbing_set_ipv4(uint8_t address[16], uint32_t ipv4)
{
    memset(address, 0, 16);
    address[10] = address[11] = 0xff;
    for (int i = 0; i < 4; i++)
        address[12 + i] = (uint8_t)(ipv4 >> (24 - 8 * i));
}

static inline bool plumbing_is_synthetic(uint32_t ipv4)
{
    return ipv4 >> (32 - SYNTHETIC_PREFIX) == SYNTHETIC_NET >> (32 - SYNTHETIC_PREFIX);
}

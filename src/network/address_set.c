#include "network/address_set.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

void address_set_done(struct address_set *s)
{
    free(s->v);
    *s = (struct address_set){ 0 };
}

static int add_range(struct address_set *s, const struct address_range *range, struct err *e)
{
    if (s->n == ADDRESS_SET_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "more than %d addresses and ranges", ADDRESS_SET_MAX);
    struct address_range *grown = reallocarray(s->v, s->n + 1, sizeof *grown);
    if (!grown)
        return err_no_memory(e, "a set of addresses");
    s->v = grown;
    s->v[s->n++] = *range;
    return 0;
}

int address_of(const struct sockaddr *sa, uint8_t ret[16], uint16_t *ret_port)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    switch (sa->sa_family) {
    case AF_INET:
        memcpy(&v4, sa, sizeof v4);
        memcpy(ret, mapped, sizeof mapped);
        memcpy(ret + sizeof mapped, &v4.sin_addr, 4);
        *ret_port = ntohs(v4.sin_port);
        return 0;
    case AF_INET6:
        memcpy(&v6, sa, sizeof v6);
        memcpy(ret, &v6.sin6_addr, 16);
        *ret_port = ntohs(v6.sin6_port);
        return 0;
    default:
        return -1;
    }
}

const char *address_text(const uint8_t address[16], char *out, size_t size)
{
    bool v4 = memcmp(address, mapped, sizeof mapped) == 0;
    if (!inet_ntop(v4 ? AF_INET : AF_INET6, address + (v4 ? sizeof mapped : 0), out,
                   (socklen_t)size))
        out[0] = '\0';
    return out;
}

bool address_range_has(const struct address_range *range, const uint8_t address[16])
{
    unsigned whole = range->bits / 8, rest = range->bits % 8;
    if (memcmp(range->address, address, whole) != 0)
        return false;
    return rest == 0 || (range->address[whole] ^ address[whole]) >> (8 - rest) == 0;
}

bool address_set_has(const struct address_set *s, const uint8_t address[16])
{
    for (size_t i = 0; i < s->n; i++)
        if (address_range_has(&s->v[i], address))
            return true;
    return false;
}

bool address_set_names(const struct address_set *s, const uint8_t address[16])
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].bits == 128 && memcmp(s->v[i].address, address, 16) == 0)
            return true;
    return false;
}

int address_set_add(struct address_set *s, const struct sockaddr *sa, struct err *e)
{
    struct address_range range = { .bits = 128 };
    uint16_t port;
    if (address_of(sa, range.address, &port))
        return err_set(e, ERR_BAD_REQUEST, 0, "an address is neither IPv4 nor IPv6");
    return add_range(s, &range, e);
}

/* ---- text ---- */

static bool has_bits_beyond_prefix(const struct address_range *range)
{
    for (unsigned bit = range->bits; bit < 128; bit++)
        if (range->address[bit / 8] & (0x80U >> bit % 8))
            return true;
    return false;
}

static int parse_bits(const char *text, unsigned most, unsigned *ret)
{
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 3 || text[n] != '\0' || (text[0] == '0' && n > 1))
        return -1;
    unsigned value = (unsigned)strtoul(text, NULL, 10);
    if (value > most)
        return -1;
    *ret = value;
    return 0;
}

static int refuse(const char *text, const char *why, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is not a range of addresses: %s", QUOTED(text),
                   why);
}

/* In place: cuts the text at its slash. */
static int parse_range(char *text, struct address_range *ret, struct err *e)
{
    char whole[64];
    struct address_range range = { .bits = 128 };
    char *slash = strchr(text, '/');
    unsigned bits = 0;
    memcpy(whole, text, strlen(text) + 1);
    if (slash)
        *slash = '\0';
    bool v4 = inet_pton(AF_INET, text, range.address + sizeof mapped) == 1;
    if (v4)
        memcpy(range.address, mapped, sizeof mapped);
    else if (inet_pton(AF_INET6, text, range.address) != 1 ||
             memcmp(range.address, mapped, sizeof mapped) == 0)
        return refuse(whole, "such as 10.0.0.0/8, fd00::/8 or 192.0.2.7", e);
    if (slash) {
        if (parse_bits(slash + 1, v4 ? 32 : 128, &bits))
            return refuse(whole, v4 ? "its prefix is from 8 to 32" : "its prefix is from 7 to 128",
                          e);
        if (bits < (v4 ? 8 : 7))
            return refuse(whole, "it is too wide: /8 of IPv4 and /7 of IPv6 are the widest", e);
        range.bits = v4 ? bits + 96 : bits;
    }
    if (has_bits_beyond_prefix(&range))
        return refuse(whole, "it has bits beyond its prefix", e);
    *ret = range;
    return 0;
}

int address_set_parse(const char *text, struct address_set *ret, struct err *e)
{
    struct address_set s = { 0 };
    for (const char *at = text; *at;) {
        struct address_range range;
        char entry[64];
        size_t n = strcspn(at, ", \t");
        if (n == 0) {
            at++;
            continue;
        }
        if (n >= sizeof entry) {
            address_set_done(&s);
            return refuse(at, "it is too long", e);
        }
        memcpy(entry, at, n);
        entry[n] = '\0';
        at += n;
        if (parse_range(entry, &range, e) || add_range(&s, &range, e)) {
            address_set_done(&s);
            return -1;
        }
    }
    *ret = s;
    return 0;
}

int address_set_read_host(struct address_set *ret, struct err *e)
{
    struct address_set s = { 0 };
    struct ifaddrs *all;
    if (getifaddrs(&all))
        return err_set(e, ERR_KERNEL, errno, "read the addresses of this machine");
    int failed = 0;
    for (struct ifaddrs *a = all; a && !failed; a = a->ifa_next)
        if (a->ifa_addr &&
            (a->ifa_addr->sa_family == AF_INET || a->ifa_addr->sa_family == AF_INET6))
            failed = address_set_add(&s, a->ifa_addr, e);
    freeifaddrs(all);
    if (failed) {
        address_set_done(&s);
        return -1;
    }
    *ret = s;
    return 0;
}

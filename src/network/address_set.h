/* network/address_set.h — a set of addresses and ranges of addresses. Runs in: supervisor, keeper,
 * main, porter. Every address is 16 bytes; IPv4 is ::ffff:a.b.c.d. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"

struct address_range {
    uint8_t address[16];
    unsigned bits; /* of the prefix; 128: exactly this address */
};

struct address_set {
    struct address_range *v;
    size_t n;
};

enum { ADDRESS_SET_MAX = 4096, ADDRESS_TEXT_SIZE = 46 };

void address_set_done(struct address_set *s);
/* "10.0.0.0/8, fd00:1::/32, 127.0.0.1", with commas or blanks. Refuses a range that has bits beyond
 * its prefix, and one of more than a sixteenth of all addresses: IPv4 /8, IPv6 /7 are the widest. */
[[nodiscard]] int address_set_parse(const char *text, struct address_set *ret, struct err *e);
/* Adds exactly this address; its port does not matter. */
[[nodiscard]] int address_set_add(struct address_set *s, const struct sockaddr *sa, struct err *e);
/* Every address of this machine. */
[[nodiscard]] int address_set_read_host(struct address_set *ret, struct err *e);

bool address_range_has(const struct address_range *range, const uint8_t address[16]);
bool address_set_has(const struct address_set *s, const uint8_t address[16]);
/* As an entry of its own, not as part of a range. */
bool address_set_names(const struct address_set *s, const uint8_t address[16]);

/* The 16 bytes, and the port; -1: the family is neither IPv4 nor IPv6. */
[[nodiscard]] int address_of(const struct sockaddr *sa, uint8_t ret[16], uint16_t *ret_port);
/* "203.0.113.7" or "2001:db8::7" */
const char *address_text(const uint8_t address[16], char *out, size_t size);

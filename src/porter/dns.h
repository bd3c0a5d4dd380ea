/* porter/dns.h — questions of a guest to the name server of its jar, and the answers. Pure.
 * Runs in: porter. The bytes are a guest's: every length is checked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DNS_NAME_SIZE = 254, DNS_QUERY_MAX = 1232, DNS_ANSWER_MAX = 1232, DNS_TTL_S = 60 };
enum { DNS_TYPE_A = 1, DNS_TYPE_PTR = 12, DNS_TYPE_ANY = 255, DNS_CLASS_IN = 1 };

struct dns_question {
    uint16_t type, class;
    size_t end;               /* of the question in the query */
    bool edns;                /* the guest understands extended errors */
    bool standard;            /* one question, and the operation is a query */
    char name[DNS_NAME_SIZE]; /* without a dot at its end; "": no name of a host */
};

/* -1: it is no question, and there is no answer. */
[[nodiscard]] int dns_read(const uint8_t *query, size_t n, struct dns_question *ret);

enum dns_answer_kind {
    DNS_EMPTY,   /* the name exists, and has no such record */
    DNS_ADDRESS, /* one A record */
    DNS_POINTER, /* one PTR record */
    DNS_BLOCKED, /* no such name: the policy does not have it */
    DNS_REFUSED, /* not a question that is answered here */
};
struct dns_answer {
    enum dns_answer_kind kind;
    uint32_t ipv4;       /* of DNS_ADDRESS, in the order of the host */
    const char *pointer; /* of DNS_POINTER */
};
/* The number of bytes; 0: it does not fit. */
size_t dns_write(const uint8_t *query, const struct dns_question *q, const struct dns_answer *a,
                 uint8_t out[DNS_ANSWER_MAX]);
/* The address of "7.0.18.198.in-addr.arpa". */
bool dns_reverse(const char *name, uint32_t *ret_ipv4);

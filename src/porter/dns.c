#include "porter/dns.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HEAD = 12, LABEL_MAX = 63, TYPE_OPT = 41, EDNS_PAYLOAD = 1232 };
enum { OPTION_EXTENDED_ERROR = 15, ERROR_BLOCKED = 15 }; /* RFC 8914 */
enum { RCODE_OK = 0, RCODE_NO_NAME = 3, RCODE_REFUSED = 5 };

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

/* Reads a name without compression, which no question needs. Returns the end of it, or 0. A name with
 * bytes that no host has is read as "". */
static size_t read_name(const uint8_t *query, size_t n, size_t at, char name[DNS_NAME_SIZE])
{
    size_t used = 0;
    bool plain = true;
    while (at < n && query[at] != 0) {
        size_t label = query[at++];
        if (label > LABEL_MAX || label > n - at || used + label + 1 >= DNS_NAME_SIZE)
            return 0;
        if (used > 0)
            name[used++] = '.';
        for (size_t i = 0; i < label; i++) {
            uint8_t c = query[at + i];
            plain = plain && (isalnum(c) || c == '-' || c == '_') && c < 0x80;
            name[used++] = (char)tolower(c);
        }
        at += label;
    }
    if (at >= n)
        return 0;
    name[plain ? used : 0] = '\0';
    return at + 1;
}

/* The OPT record is the first additional one of every client that we know. */
static bool has_edns(const uint8_t *query, size_t n, size_t at)
{
    return get16(query + 10) >= 1 && n - at >= 11 && query[at] == 0 &&
           get16(query + at + 1) == TYPE_OPT;
}

int dns_read(const uint8_t *query, size_t n, struct dns_question *ret)
{
    struct dns_question q = { 0 };
    if (n < HEAD || query[2] & 0x80) /* it is an answer */
        return -1;
    size_t at = read_name(query, n, HEAD, q.name);
    if (get16(query + 4) < 1 || at == 0 || n - at < 4)
        return -1;
    q.type = get16(query + at);
    q.class = get16(query + at + 2);
    q.end = at + 4;
    q.standard = (query[2] & 0x78) == 0 && get16(query + 4) == 1;
    q.edns = has_edns(query, n, q.end);
    *ret = q;
    return 0;
}

/* ---- answers ---- */

struct writer {
    uint8_t *out;
    size_t n;
    bool failed;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
    if (w->failed || n > DNS_ANSWER_MAX - w->n) {
        w->failed = true;
        return;
    }
    memcpy(w->out + w->n, bytes, n);
    w->n += n;
}

static void put16(struct writer *w, unsigned v)
{
    const uint8_t bytes[2] = { (uint8_t)(v >> 8), (uint8_t)v };
    put(w, bytes, sizeof bytes);
}

static void put32(struct writer *w, uint32_t v)
{
    put16(w, v >> 16);
    put16(w, v & 0xffff);
}

static void put_name(struct writer *w, const char *name)
{
    while (*name) {
        size_t label = strcspn(name, ".");
        uint8_t length = (uint8_t)label;
        if (label == 0 || label > LABEL_MAX) {
            w->failed = true;
            return;
        }
        put(w, &length, 1);
        put(w, name, label);
        name += label + (name[label] == '.');
    }
    put(w, "", 1);
}

static void put_record(struct writer *w, const struct dns_answer *a)
{
    bool address = a->kind == DNS_ADDRESS;
    put16(w, 0xc000 | HEAD); /* the name of the question */
    put16(w, address ? DNS_TYPE_A : DNS_TYPE_PTR);
    put16(w, DNS_CLASS_IN);
    put32(w, DNS_TTL_S);
    if (address) {
        put16(w, 4);
        put32(w, a->ipv4);
        return;
    }
    size_t length_at = w->n;
    put16(w, 0);
    put_name(w, a->pointer);
    size_t length = w->n - length_at - 2;
    if (!w->failed) {
        w->out[length_at] = (uint8_t)(length >> 8);
        w->out[length_at + 1] = (uint8_t)length;
    }
}

static void put_edns(struct writer *w, bool blocked)
{
    static const char reason[] = "not in the network list of this run";
    put(w, "", 1);
    put16(w, TYPE_OPT);
    put16(w, EDNS_PAYLOAD);
    put32(w, 0);
    put16(w, blocked ? 6 + sizeof reason - 1 : 0);
    if (!blocked)
        return;
    put16(w, OPTION_EXTENDED_ERROR);
    put16(w, 2 + sizeof reason - 1);
    put16(w, ERROR_BLOCKED);
    put(w, reason, sizeof reason - 1);
}

size_t dns_write(const uint8_t *query, const struct dns_question *q, const struct dns_answer *a,
                 uint8_t out[DNS_ANSWER_MAX])
{
    static const unsigned codes[] = { [DNS_EMPTY] = RCODE_OK,
                                      [DNS_ADDRESS] = RCODE_OK,
                                      [DNS_POINTER] = RCODE_OK,
                                      [DNS_BLOCKED] = RCODE_NO_NAME,
                                      [DNS_REFUSED] = RCODE_REFUSED };
    struct writer w = { .out = out };
    bool record = a->kind == DNS_ADDRESS || a->kind == DNS_POINTER;
    put(&w, query, 2); /* the id */
    /* an answer with authority; recursion as asked for, and available */
    put16(&w, 0x8480u | (unsigned)(query[2] & 0x79) << 8 | codes[a->kind]);
    put16(&w, 1);
    put16(&w, record);
    put16(&w, 0);
    put16(&w, q->edns);
    put(&w, query + HEAD, q->end - HEAD);
    if (record)
        put_record(&w, a);
    if (q->edns)
        put_edns(&w, a->kind == DNS_BLOCKED);
    return w.failed ? 0 : w.n;
}

bool dns_reverse(const char *name, uint32_t *ret_ipv4)
{
    unsigned a, b, c, d;
    int end = 0;
    if (sscanf(name, "%3u.%3u.%3u.%3u.in-addr.arpa%n", &d, &c, &b, &a, &end) != 4 || end == 0 ||
        name[end] != '\0' || a > 255 || b > 255 || c > 255 || d > 255)
        return false;
    *ret_ipv4 = a << 24 | b << 16 | c << 8 | d;
    return true;
}

/* injector/link.h — one connection: TLS with the guest, TLS with the host, and the requests between.
 * Runs in: the injector of one run.
 *
 * RELAYED-1 The host has shown its certificate before a byte of the guest is decrypted.
 * RELAYED-2 Each direction holds the bytes of one read at most, and reads no more until they are
 *        written. */
#pragma once

#include <openssl/ssl.h>

#include "injector/rewrite.h"
#include "network/record.h"

struct link;
struct side {
    struct link *link;
    SSL *tls;
    int fd;
    bool agreed;      /* on TLS */
    bool ended;       /* it sends no more */
    bool cut;         /* and its end did not say so */
    bool wants_write; /* its last step waits for that */
    uint32_t events;  /* that epoll watches for */
    bool watched;
};

enum { LINK_BYTES = 16 << 10 };
struct link {
    uint32_t id;
    bool over;    /* to be freed */
    bool closing; /* only the end of the guest is waited for */
    bool refused; /* the guest gets an answer of ours, and no more */
    bool told_host_end;
    struct side guest, host;
    struct rewrite rewrite;
    struct buf to_host;
    size_t at_host; /* of it, written */
    char to_guest[LINK_BYTES];
    size_t n_guest, at_guest;
    struct link *next;
};
/* `report` tells the porter; ends: the connection is to be reset. */
typedef void link_report(void *context, const struct link *l, enum network_outcome outcome,
                         bool ends);

/* Takes both descriptors, in any case. NULL: no memory. */
struct link *link_new(uint32_t id, int guest_fd, SSL_CTX *to_guest, int host_fd, SSL_CTX *to_host,
                      const struct rewrite *rewrite);
void link_free(struct link *l);
/* Does everything that can be done now. */
void link_drive(struct link *l, link_report *report, void *context);
/* The events that the side waits for. */
uint32_t link_events(const struct link *l, const struct side *s);

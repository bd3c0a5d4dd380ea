/* cli/jupyter/message.h — messages of Jupyter's wire protocol, without a socket. Runs in: main.
 * A message is a list of parts: identities, a delimiter, a signature, and four parts of JSON.
 *
 * Invariants
 * JUPYTER-1 No part of a message is parsed before its signature is verified. A message that has a
 *           wrong signature, or that came before, is dropped. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/id.h"

#define JUPYTER_PROTOCOL "5.3"

enum {
    PARTS_MAX = 32,     /* identities and buffers included */
    SIGNATURE_HEX = 64, /* HMAC-SHA256 as hexadecimal digits */
    SIGNATURE_BYTES = 32,
    SEEN_MAX = 16384, /* signatures that are remembered */
};

struct parts {
    struct buf part[PARTS_MAX];
    size_t n;
};
void parts_done(struct parts *p);
[[nodiscard]] int parts_add(struct parts *p, const void *bytes, size_t n, struct err *e);

/* The key of the connection, and the signatures that came with it. */
struct signer {
    char *key;
    size_t key_len;
    unsigned char (*seen)[SIGNATURE_BYTES];
    size_t n_seen, next;
    char session[ID_SIZE]; /* of the headers that we write */
};
[[nodiscard]] int signer_open(struct signer *ret, const char *key, struct err *e);
void signer_done(struct signer *s);

/* A verified request of a client. */
struct request {
    struct parts identities;
    char type[64];
    struct buf header; /* as it came: the parent of every answer */
    json_t *content;
};
void request_done(struct request *r);
/* ERR_DENIED for a wrong signature or a replay, ERR_BAD_REQUEST for a message without its form. */
[[nodiscard]] int request_read(struct signer *s, const struct parts *p, struct request *ret,
                               struct err *e);

/* Adds delimiter, signature, header, parent, metadata and content. The content is JSON that is not
 * looked at: a guest may have written it. */
[[nodiscard]] int message_write(const struct signer *s, const char *type, const struct buf *parent,
                                const char *content, size_t content_len, struct parts *out,
                                struct err *e);

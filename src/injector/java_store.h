/* injector/java_store.h — authorities in the form that Java reads. Runs in: injector. Pure.
 *
 * Java has a store of its own in place of /etc/ssl/certs/ca-certificates.crt. Its form (JKS) is a list of
 * certificates with a digest. Every Java since 1.2 reads it. */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct java_store {
    struct buf entries;
    uint32_t n;
};
void java_store_done(struct java_store *s);
/* Adds each certificate of the text (PEM), as OWNER-1 and so on: a name that stands twice counts once. */
[[nodiscard]] int java_store_add(struct java_store *s, const char *owner, const struct buf *pem,
                                 struct err *e);
/* Appends the file with the entries of both stores. */
[[nodiscard]] int java_store_write(const struct java_store *first, const struct java_store *second,
                                   struct buf *ret, struct err *e);

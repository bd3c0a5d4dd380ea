/* injector/authority.h — the authority of one run: it signs the certificates that its guest sees.
 * Runs in: the injector of one run. Its key is made there and stays there.
 *
 * AUTHORITY-1 A certificate of an authority holds for the hosts that the run has secrets for, by a
 *             name constraint too, and for some days. The jar of the run is the only place that
 *             trusts it. */
#pragma once

#include <openssl/ssl.h>

#include "base/buf.h"
#include "base/err.h"

/* The subject of every authority is the same, so the name of its file in a directory of certificates
 * is known (X509_NAME_hash). */
#define AUTHORITY_NAME "Belljar authority of one run"

struct authority {
    EVP_PKEY *key;
    X509 *certificate;
};
void authority_done(struct authority *a);
[[nodiscard]] int authority_make(struct authority *ret, const char *const *hosts, size_t n,
                                 struct err *e);
/* Its certificate as text. */
[[nodiscard]] int authority_text(const struct authority *a, struct buf *ret, struct err *e);
/* Gives the context a key of its own, and a certificate for this host. */
[[nodiscard]] int authority_sign(const struct authority *a, const char *host, SSL_CTX *context,
                                 struct err *e);

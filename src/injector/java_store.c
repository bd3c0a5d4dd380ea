#include "injector/java_store.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAGIC         UINT32_C(0xfeedfeed)
#define TYPE          "X.509"
/* The digest is for accidents: every program knows this password, in UTF-16, and these words. */
#define DIGEST_BEGINS "\0c\0h\0a\0n\0g\0e\0i\0tMighty Aphrodite"
enum { VERSION = 2, TAG_TRUSTED = 2, CERTIFICATES_MAX = 4096, DIGEST_BYTES = 20 };

void java_store_done(struct java_store *s)
{
    buf_done(&s->entries);
    s->n = 0;
}

static int add_number(struct buf *b, uint64_t value, int bytes, struct err *e)
{
    char out[8];
    for (int i = 0; i < bytes; i++)
        out[i] = (char)(value >> (8 * (bytes - 1 - i)));
    return buf_add(b, out, (size_t)bytes, e);
}

static int add_text(struct buf *b, const char *text, struct err *e)
{
    return add_number(b, strlen(text), 2, e) || buf_add(b, text, strlen(text), e) ? -1 : 0;
}

static int add_entry(struct java_store *s, const char *owner, const void *der, size_t n,
                     struct err *e)
{
    struct buf *b = &s->entries;
    char alias[32];
    (void)snprintf(alias, sizeof alias, "%s-%u", owner, s->n + 1);
    if (add_number(b, TAG_TRUSTED, 4, e) || add_text(b, alias, e) || add_number(b, 0, 8, e) ||
        add_text(b, TYPE, e) || add_number(b, n, 4, e) || buf_add(b, der, n, e))
        return -1;
    s->n++;
    return 0;
}

int java_store_add(struct java_store *s, const char *owner, const struct buf *pem, struct err *e)
{
    char *name = NULL, *header = NULL;
    unsigned char *der = NULL;
    long n = 0;
    int rc = 0;
    BIO *bio = pem->len > 0 ? BIO_new_mem_buf(pem->data, (int)pem->len) : NULL;
    while (bio && rc == 0 && s->n < CERTIFICATES_MAX &&
           PEM_read_bio(bio, &name, &header, &der, &n) == 1) {
        if (strcmp(name, "CERTIFICATE") == 0)
            rc = add_entry(s, owner, der, (size_t)n, e);
        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_free(der);
    }
    BIO_free(bio);
    return rc;
}

static int add_digest(struct buf *b, size_t from, struct err *e)
{
    static const char begins[] = DIGEST_BEGINS;
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    bool made = c && EVP_DigestInit_ex(c, EVP_sha1(), NULL) == 1 &&
                EVP_DigestUpdate(c, begins, sizeof begins - 1) == 1 &&
                EVP_DigestUpdate(c, b->data + from, b->len - from) == 1 &&
                EVP_DigestFinal_ex(c, digest, &n) == 1 && n == DIGEST_BYTES;
    EVP_MD_CTX_free(c);
    return made ? buf_add(b, (const char *)digest, n, e)
                : err_set(e, ERR_UNAVAILABLE, 0, "make the digest of a store for Java");
}

int java_store_write(const struct java_store *first, const struct java_store *second,
                     struct buf *ret, struct err *e)
{
    size_t from = ret->len;
    if (add_number(ret, MAGIC, 4, e) || add_number(ret, VERSION, 4, e) ||
        add_number(ret, first->n + second->n, 4, e) ||
        buf_add(ret, buf_str(&first->entries), first->entries.len, e) ||
        buf_add(ret, buf_str(&second->entries), second->entries.len, e))
        return -1;
    return add_digest(ret, from, e);
}

#include "injector/authority.h"

#include <openssl/bn.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>

enum { DAY_S = 24 * 3600, LIFE_S = 30 * DAY_S };

static int broken(const char *what, struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, 0, "make %s for the run", what);
}

void authority_done(struct authority *a)
{
    EVP_PKEY_free(a->key);
    X509_free(a->certificate);
    *a = (struct authority){ 0 };
}

/* A certificate without its extensions and signature; NULL: no memory. */
static X509 *draft(EVP_PKEY *key, const char *subject)
{
    unsigned char number[16];
    X509 *x = X509_new();
    X509_NAME *name = x ? X509_get_subject_name(x) : NULL;
    if (!x || RAND_bytes(number, sizeof number) != 1)
        goto fail;
    number[0] &= 0x7f;
    BIGNUM *serial = BN_bin2bn(number, sizeof number, NULL);
    bool numbered = serial && BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(x));
    BN_free(serial);
    /* the clock of a jar is that of the machine; a day more is for a program with another zone */
    if (!numbered || X509_set_version(x, X509_VERSION_3) != 1 ||
        !X509_gmtime_adj(X509_getm_notBefore(x), -DAY_S) ||
        !X509_gmtime_adj(X509_getm_notAfter(x), LIFE_S) || X509_set_pubkey(x, key) != 1 ||
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)subject, -1, -1,
                                   0) != 1)
        goto fail;
    return x;
fail:
    X509_free(x);
    return NULL;
}

static bool extend(X509 *x, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, x, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool added = extension && X509_add_ext(x, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

/* The longest list is below the bound of a policy. */
static bool constrain(X509 *x, const char *const *hosts, size_t n)
{
    struct buf list = { 0 };
    struct err e;
    bool well = buf_addf(&list, &e, "critical") == 0;
    for (size_t i = 0; i < n && well; i++)
        well = buf_addf(&list, &e, ",permitted;DNS:%s", hosts[i]) == 0;
    well = well && extend(x, x, NID_name_constraints, list.data);
    buf_done(&list);
    return well;
}

int authority_make(struct authority *ret, const char *const *hosts, size_t n, struct err *e)
{
    struct authority a = { .key = EVP_EC_gen("P-256") };
    a.certificate = a.key ? draft(a.key, AUTHORITY_NAME) : NULL;
    X509 *x = a.certificate;
    if (!x || X509_set_issuer_name(x, X509_get_subject_name(x)) != 1 ||
        !extend(x, x, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
        !extend(x, x, NID_key_usage, "critical,keyCertSign") ||
        !extend(x, x, NID_subject_key_identifier, "hash") || !constrain(x, hosts, n) ||
        X509_sign(x, a.key, EVP_sha256()) == 0) {
        authority_done(&a);
        return broken("an authority", e);
    }
    *ret = a;
    return 0;
}

int authority_text(const struct authority *a, struct buf *ret, struct err *e)
{
    char *text;
    BIO *memory = BIO_new(BIO_s_mem());
    int rc = memory && PEM_write_bio_X509(memory, a->certificate) == 1 ? 0 : -1;
    long n = rc == 0 ? BIO_get_mem_data(memory, &text) : 0;
    if (rc == 0)
        rc = buf_add(ret, text, (size_t)n, e);
    else
        rc = broken("the text of an authority", e);
    BIO_free(memory);
    return rc;
}

int authority_sign(const struct authority *a, const char *host, SSL_CTX *context, struct err *e)
{
    char names[300];
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = key ? draft(key, "Belljar") : NULL;
    (void)snprintf(names, sizeof names, "DNS:%s", host);
    bool well = x && X509_set_issuer_name(x, X509_get_subject_name(a->certificate)) == 1 &&
                extend(x, a->certificate, NID_basic_constraints, "critical,CA:FALSE") &&
                extend(x, a->certificate, NID_key_usage, "critical,digitalSignature") &&
                extend(x, a->certificate, NID_ext_key_usage, "serverAuth") &&
                extend(x, a->certificate, NID_authority_key_identifier, "keyid") &&
                extend(x, a->certificate, NID_subject_alt_name, names) &&
                X509_sign(x, a->key, EVP_sha256()) != 0 &&
                SSL_CTX_use_certificate(context, x) == 1 &&
                SSL_CTX_use_PrivateKey(context, key) == 1;
    X509_free(x);
    EVP_PKEY_free(key);
    return well ? 0 : broken("a certificate", e);
}

#include "injector/authority.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

#include "base/clock.h"
#include "check.h"

static X509 *signed_for(const struct authority *a, const char *host, SSL_CTX **ret)
{
    struct err e;
    *ret = SSL_CTX_new(TLS_server_method());
    CHECK_INT(authority_sign(a, host, *ret, &e), 0);
    return SSL_CTX_get0_certificate(*ret);
}

static long verify(const struct authority *a, X509 *leaf, const char *host)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    X509_STORE_add_cert(store, a->certificate);
    X509_STORE_CTX_init(context, store, leaf, NULL);
    X509_VERIFY_PARAM_set1_host(X509_STORE_CTX_get0_param(context), host, 0);
    (void)X509_verify_cert(context);
    long result = X509_STORE_CTX_get_error(context);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    return result;
}

static void test_certificate_holds_for_hosts_of_the_run_alone(void)
{
    const char *const hosts[] = { "api.example.org", "b.example.net" };
    struct authority a, other;
    struct err e;
    SSL_CTX *one, *two;
    CHECK_INT(authority_make(&a, hosts, 2, &e), 0);
    CHECK_INT(authority_make(&other, hosts, 2, &e), 0);
    X509 *leaf = signed_for(&a, "api.example.org", &one);
    CHECK_INT(verify(&a, leaf, "api.example.org"), X509_V_OK);
    CHECK_INT(verify(&a, leaf, "b.example.net"), X509_V_ERR_HOSTNAME_MISMATCH);
    CHECK(verify(&other, leaf, "api.example.org") != X509_V_OK);
    X509 *outside = signed_for(&a, "other.example.org", &two);
    CHECK_INT(verify(&a, outside, "other.example.org"), X509_V_ERR_PERMITTED_VIOLATION);
    SSL_CTX_free(one);
    SSL_CTX_free(two);
    authority_done(&a);
    authority_done(&other);
}

/* jar/trust.c has this name for the file, because every subject is the same. */
static void test_hash_of_the_subject_is_the_name_in_a_jar(void)
{
    const char *const host = "api.example.org";
    char hash[16];
    struct authority a;
    struct err e;
    CHECK_INT(authority_make(&a, &host, 1, &e), 0);
    int ok = 0;
    (void)snprintf(hash, sizeof hash, "%08lx",
                   X509_NAME_hash_ex(X509_get_subject_name(a.certificate), NULL, NULL, &ok));
    CHECK_STR(hash, "36de339c");
    authority_done(&a);
}

static const struct check_test tests[] = {
    TEST(test_certificate_holds_for_hosts_of_the_run_alone),
    TEST(test_hash_of_the_subject_is_the_name_in_a_jar),
};
CHECK_MAIN(tests)

#include "injector/java_store.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/auto.h"
#include "check.h"

/* Two blocks whose bytes are "abc" and "defg", and one of another kind. */
static const char text[] = "# of the operator\n"
                           "-----BEGIN CERTIFICATE-----\nYWJj\n-----END CERTIFICATE-----\n"
                           "-----BEGIN PUBLIC KEY-----\neHl6\n-----END PUBLIC KEY-----\n"
                           "-----BEGIN CERTIFICATE-----\nZGVmZw==\n-----END CERTIFICATE-----\n";

static void test_store_for_java_has_each_certificate_once_and_its_digest(void)
{
    static const char head[] = "\xfe\xed\xfe\xed\0\0\0\2\0\0\0\4";
    static const char first[] = "\0\0\0\2\0\11machine-1\0\0\0\0\0\0\0\0\0\5X.509\0\0\0\3abc";
    static const char begins[] = "\0c\0h\0a\0n\0g\0e\0i\0tMighty Aphrodite";
    struct err e;
    scoped(java_store) machine = { 0 };
    scoped(java_store) run = { 0 };
    scoped(buf) pem = { 0 };
    scoped(buf) file = { 0 };
    scoped(buf) whole = { 0 };
    unsigned char digest[EVP_MAX_MD_SIZE];
    CHECK_INT(buf_add(&pem, text, sizeof text - 1, &e), 0);
    CHECK_INT(java_store_add(&machine, "machine", &pem, &e), 0);
    CHECK_INT(java_store_add(&run, "run", &pem, &e), 0);
    CHECK(machine.n == 2 && run.n == 2);
    CHECK_INT(java_store_write(&machine, &run, &file, &e), 0);
    CHECK_INT(file.len, sizeof head - 1 + machine.entries.len + run.entries.len + 20);
    CHECK(memcmp(file.data, head, sizeof head - 1) == 0);
    CHECK(memcmp(file.data + sizeof head - 1, first, sizeof first - 1) == 0);
    CHECK(memmem(file.data, file.len, "machine-2", 9) && memmem(file.data, file.len, "run-1", 5));
    CHECK(!memmem(file.data, file.len, "xyz", 3));
    CHECK_INT(buf_add(&whole, begins, sizeof begins - 1, &e), 0);
    CHECK_INT(buf_add(&whole, file.data, file.len - 20, &e), 0);
    CHECK(EVP_Digest(whole.data, whole.len, digest, NULL, EVP_sha1(), NULL) == 1);
    CHECK(memcmp(file.data + file.len - 20, digest, 20) == 0);
}

static void test_text_without_a_certificate_is_an_empty_store(void)
{
    struct err e;
    scoped(java_store) none = { 0 };
    scoped(buf) empty = { 0 };
    CHECK_INT(java_store_add(&none, "machine", &empty, &e), 0);
    CHECK_INT(none.n, 0);
}

static const struct check_test tests[] = {
    TEST(test_store_for_java_has_each_certificate_once_and_its_digest),
    TEST(test_text_without_a_certificate_is_an_empty_store),
};
CHECK_MAIN(tests)

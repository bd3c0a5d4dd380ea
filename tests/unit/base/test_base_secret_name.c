/* Names that say that their value is a secret, and names that only look like it. */
#include "base/secret_name.h"

#include <stdio.h>

#include "base/array.h"
#include "check.h"

static void check_all(const char *const *names, size_t n, bool secret)
{
    for (size_t i = 0; i < n; i++)
        if (!CHECK(secret_name(names[i], strlen(names[i])) == secret))
            printf("    '%s'\n", names[i]);
}

static void test_names_of_secrets_are_known(void)
{
    static const char *const names[] = {
        "password",      "PASSWORD",  "db_password",   "userPassword",  "passwd",
        "pwd",           "DB_PWD",    "secret",        "client_secret", "token",
        "access_token",  "authToken", "tokens_secret", "api_key",       "apiKey",
        "API-KEY",       "KEY",       "secret_keys",   "sshPrivateKey", "AWS_SECRET_ACCESS_KEY",
        "encryptionKey", "auth",      "Authorization", "cookie",        "session_id",
        "self.password", "a.b.token", "credentials",   "jwt",           "x_otp"
    };
    check_all(names, ARRAY_LEN(names), true);
}

static void test_other_names_are_no_secrets(void)
{
    static const char *const names[] = { "",         "key",      "keys",       "monkey",
                                         "keyboard", "tokens",   "tokenizer",  "row",
                                         "author",   "self.key", "pins_",      "opinion",
                                         "compass",  "passed",   "token.text", "password.length",
                                         "_",        "...",      "\xff\xfe" };
    check_all(names, ARRAY_LEN(names), false);
}

static void test_a_long_name_is_read_in_part(void)
{
    static char name[100000];
    memset(name, 'a', sizeof name);
    memcpy(name, "password", 8);
    CHECK(secret_name(name, sizeof name));
    memset(name, '.', sizeof name);
    CHECK(!secret_name(name, sizeof name));
}

static const struct check_test tests[] = {
    TEST(test_names_of_secrets_are_known),
    TEST(test_other_names_are_no_secrets),
    TEST(test_a_long_name_is_read_in_part),
};
CHECK_MAIN(tests)

#include "jar/mounts.h"

#include "base/array.h"
#include "check.h"

static void test_secrets_are_known_by_their_names(void)
{
    static const char *const hidden[] = {
        ".env",        "a/.env",          ".env.local",    "A/.ENV",
        "server.key",  "x/y/cert.PEM",    "id_ed25519",    ".ssh",
        ".git/config", "sub/.git/config", ".npmrc",        ".git/modules/x/config",
        ".aws",        "a.kdbx",          "infra.tfstate", ".git-credentials",
    };
    static const char *const shown[] = {
        "env",    "a.env.txt",  ".env.example",   "config",    "a.git/config", "git/config",
        "key.py", "id_rsa.pub", ".git/config.py", ".git/HEAD", ".envrc.md",    "monkey",
    };
    for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
        if (!CHECK(mounts_is_secret(hidden[i])))
            printf("    %s\n", hidden[i]);
    for (size_t i = 0; i < ARRAY_LEN(shown); i++)
        if (!CHECK(!mounts_is_secret(shown[i])))
            printf("    %s\n", shown[i]);
}

static const struct check_test tests[] = {
    TEST(test_secrets_are_known_by_their_names),
};
CHECK_MAIN(tests)

/* jar/seccomp_policy.h — how the table of seccomp_policy.c is read.
 * Runs in: seccomp_gen, while Belljar is built. Nothing of it is in the product.
 *
 * Rows that name the same call are read from the top: the first whose condition holds decides.
 * The last of them has no condition. A call without a row answers ENOSYS. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The answer to a call: ALLOW, or an errno, and the kernel does not make the call. 0 is "done". */
enum { SECCOMP_ALLOW = -1 };

/* The profiles of a row. */
enum {
    SECCOMP_IN_JAR = 1,
    SECCOMP_IN_PROCESS = 2,
    SECCOMP_IN_INIT = 4,
    /* Added to the rows of the jar, and above them: they decide first. */
    SECCOMP_IN_LISTED = 16,
    SECCOMP_IN_NO_OWN_CODE = 32,
    SECCOMP_IN_READER = 64,
    SECCOMP_IN_KEEPER = 128,
    SECCOMP_IN_SERVICE = 256,     /* the keeper of a service, in addition */
    SECCOMP_IN_READS_FILES = 512, /* a keeper that looks at languages, in addition */
    SECCOMP_IN_CLIENT = 1024,     /* a keeper that talks to a service, in addition */
    SECCOMP_IN_WARDEN = 2048,     /* rows that deny; a call without a row is allowed */
    SECCOMP_IN_ZYGOTE = 4096,     /* added to the rows of the jar, and above them */
    SECCOMP_IN_NO_SOCKETS = 8192, /* the same */
    SECCOMP_IN_PORTER = 16384,    /* added to the rows of a keeper */
    SECCOMP_IN_INJECTOR =
        32768,            /* the parent of injectors; added to the rows of a keeper, above them */
    SECCOMP_ONLY_X86 = 8, /* calls older than the other architectures, which never had them */
};

/* Argument number `arg`, cut to its low 32 bits and masked, is one of the values. With SECCOMP_HIGH
 * the condition is on the high half, which matters only for a pointer. */
enum { SECCOMP_HIGH = 8 };
struct seccomp_condition {
    unsigned arg;
    uint32_t mask;
    const uint32_t *values;
    size_t count; /* 0: no condition, and none after it */
};
enum { SECCOMP_CONDITIONS = 3 };

struct seccomp_rule {
    int answer;
    unsigned in;
    /* Names with a space between. `name=NUMBER` is for calls that the build machine's libseccomp
     * may not know yet: since 424 a call has the same number on every architecture. */
    const char *calls;
    struct seccomp_condition when[SECCOMP_CONDITIONS]; /* all of them */
    const char *why;
};

extern const struct seccomp_rule seccomp_policy[];
extern const size_t seccomp_policy_rules;

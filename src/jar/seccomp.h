/* jar/seccomp.h — the system calls that a process may make from here on.
 * Runs in: the process that becomes the program or pid 1 of the jar, and our own processes (confinement.h),
 * as its last step. Never logs.
 *
 * The rules are the table of seccomp_policy.c. seccomp_gen turns them into BPF while Belljar is
 * built, so that applying them costs one system call and the product needs no library for it.
 *
 * Invariants
 * SECCOMP-1 A call that the table does not name answers ENOSYS, except in the filter of the warden,
 *    which names the calls that it denies. A call through another entry of the
 *    kernel (i386) ends the process.
 * SECCOMP-2 Arguments are compared on their low 32 bits, as the kernel does (CVE-2019-10063).
 * SECCOMP-3 Filters can only be added: neither a process nor its children can remove one.
 * SECCOMP-4 An embryo gets the short filter only if the filter of its zygote answers a probe. Both
 *    together decide as the long filter does, which seccomp_gen proves for every call. */
#pragma once

#include "base/err.h"

enum seccomp_profile {
    SECCOMP_JAR,             /* the program, in namespaces of its own */
    SECCOMP_NO_SOCKETS,      /* as JAR, for JOB_NO_SOCKETS */
    SECCOMP_PROCESS,         /* the program, where there are no namespaces */
    SECCOMP_INIT,            /* the jar's pid 1, when all is set up: it reaps, and nothing else */
    SECCOMP_LISTED,          /* as JAR, for JOB_LISTED: code comes only from files */
    SECCOMP_LISTED_OWN_CODE, /* the same, for programs that make machine code, such as Node */
    SECCOMP_READER,          /* a process that reads output of guests: one socket, and memory */
    /* our own processes, see confinement.c */
    SECCOMP_COMMAND_KEEPER,
    SECCOMP_CLIENT_KEEPER,
    SECCOMP_SERVICE_KEEPER,
    SECCOMP_PORTER,
    SECCOMP_INJECTOR_PARENT,
    SECCOMP_INJECTOR,
    SECCOMP_WARDEN, /* and supervisor: every process that they start inherits it */
    SECCOMP_ZYGOTE, /* as JAR, and the calls that put a fork into a jar; embryos inherit it */
    /* JAR and NO_SOCKETS without the calls about which the filter of a zygote decides in the same way.
     * seccomp_apply() chooses them in an embryo. */
    SECCOMP_EMBRYO,
    SECCOMP_EMBRYO_NO_SOCKETS,
    SECCOMP_PROFILES
};

/* An option of prctl() that no kernel knows (EINVAL). The filter of a zygote alone answers
 * ENOTNAM. */
enum { SECCOMP_ZYGOTE_PROBE = 0x424a5a46 };

/* Filters the calling thread and its future children, for good. The caller is single-threaded and
 * has set no_new_privs. Without it this fails, even for root, which the kernel would allow. */
[[nodiscard]] int seccomp_apply(enum seccomp_profile profile, struct err *e);

/* jar/seccomp.h — the system calls that a process may make from here on.
 * Runs in: the process about to become the program or the jar's pid 1, last thing before it does. Never logs.
 *
 * The rules are the table of seccomp_policy.c. seccomp_gen turns them into BPF while Belljar is built,
 * so that applying them costs one system call and the product needs no library for it.
 *
 * Invariants
 * S1 Whatever the table does not name answers ENOSYS, and the kernel's other entries (i386) end the process.
 * S2 Arguments are compared on their low 32 bits: that is what the kernel looks at (CVE-2019-10063).
 * S3 A profile is only ever added to: a process under one filter cannot take it off, nor can its children. */
#pragma once

#include "base/err.h"

enum seccomp_profile {
    SECCOMP_JAR,     /* the program, in namespaces of its own */
    SECCOMP_PROCESS, /* the program, where there are no namespaces */
    SECCOMP_INIT,    /* the jar's pid 1, when all is set up: it reaps, and nothing else */
    /* as JAR, where nothing is executed but what is listed: no code that comes from elsewhere than from files */
    SECCOMP_LISTED,
    SECCOMP_LISTED_OWN_CODE, /* and where what is listed makes its own, as Node does */
    SECCOMP_PROFILES
};

/* Filters the calling thread and what it starts, for good. The caller is single-threaded and has set
 * no_new_privs; without it this refuses, also for root, who could do without. */
[[nodiscard]] int seccomp_apply(enum seccomp_profile profile, struct err *e);

/* zygote/driver.h — our code inside an interpreter: a shared object that is preloaded into it.
 * Runs in: a zygote, and each embryo forked from it. Never in the warden.
 *
 * Theory of operation. A driver replaces the interpreter's own main(). It boots the interpreter to
 * the point just before a program would start, and calls driver_serve(). The zygote never returns
 * from there: for each jar that the warden has built it forks a child into that jar, which becomes
 * a child of the warden. The child gives up every right, as any program of a jar does. It is then
 * an embryo and waits for its one job. When the job comes, driver_serve() returns in the embryo,
 * with the files in /sandbox, stdin, stdout and stderr in place and the environment set, and the
 * driver runs the program as the interpreter would.
 *
 * Invariants
 * DRIVER-1 A zygote never sees a job and holds no secret: it reads only the warden's requests to
 *    fork.
 * DRIVER-2 An embryo is confined before its job can arrive, and has one job.
 * DRIVER-3 An embryo waits with 0, 1, 2, its report and the socket for its job open. When
 *    driver_serve() returns, 0, 1 and 2 are open, in a session also 3 (the channel), and the descriptors that its `embryo` hook opened
 *    in the jar, with the rights of a program.
 * DRIVER-4 No report of the driver is read after guest code has begun. */
#pragma once

#include <stdbool.h>

struct driver_hooks {
    /* Around the fork, in the zygote; may be NULL. */
    void (*before_fork)(void);
    void (*after_fork_parent)(void);
    /* In the embryo, after it is confined and before it waits for its job: every step that does not
     * depend on the job, such as new seeds for random generators. May be NULL. */
    void (*embryo)(void);
    /* The embryo starts other processes. It gets no nice value, because the warden can undo that
     * only for the embryo itself. */
    bool family;
};

struct driver_job {
    int argc;
    char **argv;    /* as from execve; NULL-terminated */
    char **envp;    /* `environ` points to it already */
    unsigned flags; /* JOB_* of spec/job.h */
    char *slate;    /* SLATE_BYTES zero bytes, for the values of a program that fails; NULL: none */
};

/* Returns only in the embryo, with its job, which lives as long as the process. The zygote ends in
 * here. */
void driver_serve(const struct driver_hooks *hooks, struct driver_job *ret_job);

/* Before driver_serve(): this zygote cannot work. Sends the reason to the warden and ends the
 * process. */
_Noreturn void driver_fail(const char *why);

/* The driver defines this function. It is called instead of main(), with the arguments of the
 * zygote. real_main is the interpreter's own. Its result is the exit status. */
int driver_main(int argc, char **argv, char **envp, int (*real_main)(int, char **, char **));

/* zygote/driver.h — the part of us that moves into an interpreter: a shared object that is preloaded into it.
 * Runs in: a zygote, and then in each embryo that is forked from it. Never in the warden.
 *
 * Theory of operation. A driver takes over where the interpreter's own main() would begin, boots the interpreter to just
 * before the guest's program would start, and calls driver_serve(). The zygote stays in there for life: for each jar that
 * the warden has built it forks a child into it, as a child of the warden. The child gives up everything, as any program
 * of a jar does, and is then an embryo: it waits for the one job of its life. When that comes, driver_serve() returns in
 * the embryo, with the files in /sandbox, stdin, stdout and stderr in place and the environment set, and the driver does
 * what the interpreter would do with that command line.
 *
 * Invariants
 * D1 A zygote never sees a job and holds no secret: it reads nothing but the warden's requests to fork.
 * D2 An embryo is confined before its job can arrive, and has one job.
 * D3 An embryo waits with 0, 1 and 2, its report and its job's socket open; when driver_serve() returns, with 0, 1 and 2. What
 *    its `embryo` hook opened is beside them: it was opened in the jar, with a program's rights.
 * D4 Nothing that the driver says after guest code has begun is heard by anyone. */
#pragma once

#include <stdbool.h>

struct driver_hooks {
    /* Around the fork, in the zygote; may be NULL. */
    void (*before_fork)(void);
    void (*after_fork_parent)(void);
    /* In the embryo, once it is confined and before it waits for its job: everything that can be done without knowing
     * the job, such as new seeds for every random generator. May be NULL. */
    void (*embryo)(void);
    bool family; /* it starts others: no nice value, which the warden undoes for the embryo alone */
};

struct driver_job {
    int argc;
    char **argv; /* as execve would give them to the interpreter; NULL-terminated */
    char **envp; /* `environ` is this already */
};

/* Returns in the embryo alone, with its job, which lives as long as the process does. The zygote ends in here. */
void driver_serve(const struct driver_hooks *hooks, struct driver_job *ret_job);

/* Before driver_serve(): this zygote cannot be; the warden is told why. Does not return. */
_Noreturn void driver_fail(const char *why);

/* Where the C library keeps the number of the calling thread, or NULL. Safe in a handler of signals. */
int *driver_thread_id_place(void);

/* A function that the driver defines; it is called instead of main(), with the arguments the zygote was started with.
 * real_main is the interpreter's own. What it returns is the exit status. */
int driver_main(int argc, char **argv, char **envp, int (*real_main)(int, char **, char **));

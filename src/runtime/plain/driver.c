/* runtime/plain/driver.c — a driver for any interpreter. It stops the interpreter where main()
 * begins, with the program loaded and linked. */
#include "zygote/driver.h"
#include "runtime/plain/proc_environ.h"

int driver_main(int argc, char **argv, char **envp, int (*real_main)(int, char **, char **))
{
    static const struct driver_hooks none = { 0 };
    struct driver_job job;
    (void)argc;
    (void)argv;
    (void)envp;
    proc_environ_hide_boot();
    driver_serve(&none, &job);
    return real_main(job.argc, job.argv, job.envp);
}

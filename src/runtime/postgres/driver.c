/* runtime/postgres/driver.c — the driver inside guest-postgres; see zygote/driver.h. The zygote is
 * that program, loaded and linked. Each embryo starts a database server in its jar and connects to
 * it before it waits for its job. Jars therefore share nothing of a server: no memory, no file, no
 * random number. */
#include "zygote/driver.h"
#include "guests/sql/warm.h"
#include "runtime/plain/proc_environ.h"

int driver_main(int argc, char **argv, char **envp, int (*real_main)(int, char **, char **))
{
    static const struct driver_hooks hooks = { .embryo = sql_server_begin, .family = true };
    struct driver_job job;
    (void)argc;
    (void)argv;
    (void)envp;
    if (!sql_server_check || !sql_server_begin)
        driver_fail("this program is not guest-postgres");
    const char *why = sql_server_check();
    if (why)
        driver_fail(why);
    proc_environ_hide_boot();
    driver_serve(&hooks, &job);
    return real_main(job.argc, job.argv, job.envp);
}

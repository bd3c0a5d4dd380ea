/* runtime/python/driver.c — the driver of Python. zygote/driver.h explains drivers,
 * guest.h has the promises of this one. */
#include "runtime/plain/pages.h"
#include "runtime/python/guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/plain/proc_environ.h"

/* The hooks have no context parameter, and a process has one interpreter. */
static struct guest guest;

/* Variables for the boot alone: the modules to import in advance, and a program that is typical of
 * this kind. */
#define PRELOAD "BELLJAR_PRELOAD"
#define SAMPLE  "BELLJAR_SAMPLE"
/* The directory of our modules, in a zygote of sessions. */
#define SESSION "BELLJAR_SESSION"

/* The driver uses the interpreter's structures as these headers declare them. */
static void check_version(void)
{
    char ours[16], why[160];
    (void)snprintf(ours, sizeof ours, "%d.%d.", PY_MAJOR_VERSION, PY_MINOR_VERSION);
    if (strncmp(Py_GetVersion(), ours, strlen(ours)) == 0)
        return;
    (void)snprintf(why, sizeof why, "the driver was built for Python %d.%d, and this is %.40s",
                   PY_MAJOR_VERSION, PY_MINOR_VERSION, Py_GetVersion());
    driver_fail(why);
}

static char *take_variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    char *copy = strdup(value ? value : otherwise);
    if (!copy)
        driver_fail("no memory");
    (void)unsetenv(name);
    return copy;
}

static void on_embryo(void)
{
    pages_touch();
    PyOS_AfterFork_Child();
    guest_freshen();
}

int driver_main(int argc, char **argv, char **envp, int (*real_main)(int, char **, char **))
{
    (void)real_main;
    check_version();
    proc_environ_hide_boot();
    char *modules = take_variable(PRELOAD, ""), *sample = take_variable(SAMPLE, "print(1)\n");
    char *session = take_variable(SESSION, "");
    guest_boot(&guest, argc, argv);
    guest_preload(&guest, modules);
    if (*session)
        guest_make_session(&guest, session);
    guest_settle(&guest);
    guest_find_generators();
    guest_fork_page_probe(&guest, sample, argv, envp);
    free(modules);
    free(sample);
    free(session);

    const struct driver_hooks hooks = {
        .before_fork = PyOS_BeforeFork,
        .after_fork_parent = PyOS_AfterFork_Parent,
        .embryo = on_embryo,
    };
    struct driver_job job;
    driver_serve(&hooks, &job);
    return guest_run(&guest, &job);
}

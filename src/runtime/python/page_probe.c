/* runtime/python/page_probe.c — the page probe of plain/pages.h: a child that runs a typical
 * program. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/plain/pages.h"
#include "runtime/python/guest.h"

static _Noreturn void probe_pages(struct guest *g, const char *program, char **argv, char **envp,
                                  int to)
{
    char *job_argv[] = { argv[0], argv[1], NULL };
    const struct driver_job job = { .argc = 2, .argv = job_argv, .envp = envp };
    guest_run_sample(g, program, &job);
    pages_report(to);
}

void guest_fork_page_probe(struct guest *g, const char *program, char **argv, char **envp)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    PyOS_BeforeFork();
    pid_t pid = fork();
    if (pid == 0) {
        PyOS_AfterFork_Child();
        probe_pages(g, program, argv, envp, ends[1]);
    }
    PyOS_AfterFork_Parent();
    close(ends[1]);
    if (pid > 0)
        pages_receive(ends[0]);
    close(ends[0]);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}

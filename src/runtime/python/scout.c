/* The scout of plain/pages.h: a program such as may come, run by a child that nobody sees. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/plain/pages.h"
#include "runtime/python/guest.h"

static _Noreturn void scout(struct guest *g, const char *program, char **argv, char **envp, int to)
{
    char *job_argv[] = { argv[0], argv[1], NULL };
    const struct driver_job job = { .argc = 2, .argv = job_argv, .envp = envp };
    guest_rehearse(g, program, &job);
    pages_tell(to);
}

void guest_send_scout(struct guest *g, const char *program, char **argv, char **envp)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    PyOS_BeforeFork();
    pid_t pid = fork();
    if (pid == 0) {
        PyOS_AfterFork_Child();
        scout(g, program, argv, envp, ends[1]);
    }
    PyOS_AfterFork_Parent();
    close(ends[1]);
    if (pid > 0)
        pages_hear(ends[0]);
    close(ends[0]);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}

#include "cli/commands/owner_child.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

int owner_child(int (*run)(void *context, struct err *e), void *context, struct err *e)
{
    int status;
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid < 0)
        return err_set(e, ERR_KERNEL, errno, "start a process");
    if (pid == 0) {
        int rc = run(context, e);
        (void)fflush(stdout);
        _exit(rc < 0 ? cli_fail(e) : rc);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status)
               ? WEXITSTATUS(status)
               : err_set(e, ERR_KERNEL, 0, "the process that works on the data was killed");
}

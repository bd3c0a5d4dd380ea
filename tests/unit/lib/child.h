/* tests/unit/lib/child.h — parts of a test that must run in a process of their own, because they
 * give up rights or break something that cannot be mended. */
#pragma once

#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "spec/isolation.h"

/* Waits for a child: its exit status, or 128 + signal. */
[[maybe_unused]] static int child_wait(pid_t pid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Runs f(arg) in a child. 0 when every CHECK in it held: wrap it in a CHECK_INT of the parent. */
[[maybe_unused]] static int in_child(void (*f)(void *), void *arg)
{
    pid_t pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0) {
        check_failures = 0;
        f(arg);
        (void)fflush(stdout);
        _exit(check_failures > 0);
    }
    return child_wait(pid);
}

/* Root becomes a user that owns nothing and passes no check of modes; others stay who they are. */
[[maybe_unused]] static bool become_ordinary(void)
{
    if (geteuid() != 0)
        return true;
    return setgroups(0, NULL) == 0 &&
           setresgid(OWN_UIDS_FIRST, OWN_UIDS_FIRST, OWN_UIDS_FIRST) == 0 &&
           setresuid(OWN_UIDS_FIRST, OWN_UIDS_FIRST, OWN_UIDS_FIRST) == 0 &&
           prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0; /* our own /proc files stay ours */
}

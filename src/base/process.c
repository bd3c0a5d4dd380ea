#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"

int process_open_null(struct err *e)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    return fd < 0 ? err_set(e, ERR_KERNEL, errno, "open /dev/null") : fd;
}

int process_null_fds(int n, struct err *e)
{
    autoclose int null_fd = process_open_null(e);
    if (null_fd < 0)
        return -1;
    for (int i = 0; i < n; i++)
        if (dup2(null_fd, i) < 0)
            return err_set(e, ERR_KERNEL, errno, "replace descriptor %d", i);
    return 0;
}

int process_raise_open_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return -1;
    files.rlim_cur = files.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &files);
}

size_t process_children(pid_t *ret_pids, size_t max)
{
    char path[64], text[32 << 10];
    size_t n = 0;
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    if (fd_read_file(AT_FDCWD, path, text, sizeof text) <= 0)
        return 0;
    for (char *at = text, *end; n < max; at = end + 1) {
        pid_t pid = (pid_t)strtol(at, &end, 10);
        if (end == at || *end != ' ') /* the end, or a number that was cut off */
            break;
        ret_pids[n++] = pid;
    }
    return n;
}

int process_watch_signals(const sigset_t *set, int *ret_fd, struct err *e)
{
    (void)signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, set, NULL) < 0)
        return err_set(e, ERR_KERNEL, errno, "block signals");
    int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "watch signals");
    *ret_fd = fd;
    return 0;
}

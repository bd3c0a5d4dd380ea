#include "runtime/version.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"

void version_probe_start(struct version_probe *p, const struct language *l)
{
    int ends[2];
    struct err ignored;
    posix_spawn_file_actions_t actions;
    *p = (struct version_probe)VERSION_PROBE_INIT;
    if (fd_pipe(ends, &ignored))
        return;
    p->fd = ends[0];
    autoclose int write_end = ends[1];
    if (posix_spawn_file_actions_init(&actions) != 0)
        return;
    char locale[] = "LC_ALL=C";
    char *const clean[] = { locale, NULL };
    if (posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_adddup2(&actions, write_end, 1) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) != 0 ||
        posix_spawn(&p->pid, l->version[0], &actions, NULL, (char *const *)l->version, clean) != 0)
        p->pid = -1;
    (void)posix_spawn_file_actions_destroy(&actions);
}

void version_probe_done(struct version_probe *p)
{
    fd_close(&p->fd);
    if (p->pid > 0)
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    p->pid = -1;
}

const char *version_probe_read(int fd, char *out, size_t size)
{
    char text[256];
    ssize_t n = fd >= 0 ? fd_read_full(fd, text, sizeof text - 1) : -1;
    if (n <= 0)
        return NULL;
    text[n] = '\0';
    const char *digit = strpbrk(text, "0123456789");
    if (!digit)
        return NULL;
    (void)snprintf(out, size, "%.*s", (int)strspn(digit, "0123456789."), digit);
    return out;
}

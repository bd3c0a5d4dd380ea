/* Where a driver's files are: beside our own program, as in a build, or where they are installed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "zygote/zygote.h"

static const char *const places[] = { "", "../lib/belljar/" };

static int open_beside(const char *dir, const char *name)
{
    if (name[0] == '/')
        return open(name, O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[4200];
        (void)snprintf(path, sizeof path, "%s/%s%s", dir, places[i], name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 || errno != ENOENT)
            return fd;
    }
    return -1;
}

void zygote_files_open(struct zygote_files *f, const struct zygote_def *def)
{
    char dir[4096];
    *f = (struct zygote_files){ .def = def };
    for (int i = 0; i < ZYGOTE_FILES_MAX; i++)
        f->fds[i] = -1;
    ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);
    char *slash = NULL;
    if (n > 0) {
        dir[n] = '\0';
        slash = strrchr(dir, '/');
    }
    if (!slash) {
        (void)!err_set(&f->err, ERR_UNAVAILABLE, errno, "find our own program");
        return;
    }
    *slash = '\0';
    for (int i = 0; i < ZYGOTE_FILES_MAX && def->files[i]; i++) {
        f->fds[i] = open_beside(dir, def->files[i]);
        if (f->fds[i] < 0) {
            (void)!err_set(&f->err, ERR_UNAVAILABLE, errno,
                           "%s is neither beside belljar nor in ../lib/belljar", def->files[i]);
            return;
        }
    }
}

void zygote_files_done(struct zygote_files *f)
{
    for (int i = 0; i < ZYGOTE_FILES_MAX; i++)
        fd_close(&f->fds[i]);
}

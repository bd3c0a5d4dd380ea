/* Opens the files of a driver: beside our own program, as in a build, or where they are installed.
 * Runs in: warden. */
#include <errno.h>
#include <fcntl.h>

#include "base/auto.h"
#include "base/place.h"
#include "zygote/zygote.h"

static int open_ours(const char *name, struct err *e)
{
    char path[4200];
    if (name[0] != '/' && place_find(name, path, sizeof path, e))
        return -1;
    int fd = open(name[0] == '/' ? name : path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? err_set(e, ERR_UNAVAILABLE, errno, "open %s", name) : fd;
}

void zygote_files_open(struct zygote_files *f, const struct zygote_def *def)
{
    *f = (struct zygote_files){ .def = def };
    for (int i = 0; i < ZYGOTE_FILES_MAX; i++)
        f->fds[i] = -1;
    for (int i = 0; i < ZYGOTE_FILES_MAX && def->files[i]; i++) {
        f->fds[i] = open_ours(def->files[i], &f->err);
        if (f->fds[i] < 0)
            return;
    }
}

void zygote_files_done(struct zygote_files *f)
{
    for (int i = 0; i < ZYGOTE_FILES_MAX; i++)
        fd_close(&f->fds[i]);
}

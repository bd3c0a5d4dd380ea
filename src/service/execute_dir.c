#include "service/execute_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/text.h"
#include "run/keeper_uid.h"
#include "service/hand_over.h"
#include "service/owned.h"

static const char purpose[] = "the directory of /execute (execute.workspace chooses another)";

static int make_parents(const char *path, struct err *e)
{
    char part[PATH_MAX];
    if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part)
        return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is too long for %s", QUOTED(path), purpose);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0755) < 0 && errno != EEXIST)
            return err_set(e, ERR_KERNEL, errno, "make '%s' for %s", QUOTED(part), purpose);
        *slash = '/';
    }
    return 0;
}

static bool is_empty(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autodir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        fd_close(&fd);
        return false;
    }
    int n = 0;
    while (readdir(d))
        n++;
    return n <= 2; /* "." and ".." */
}

static bool keeper_can_write(const struct stat *st, uid_t keeper)
{
    return st->st_uid == keeper ? (st->st_mode & 0300) == 0300 : (st->st_mode & 0003) == 0003;
}

/* A directory that existed before. */
static int make_usable(int fd, const struct stat *st, uid_t keeper, const char *path, struct err *e)
{
    size_t left;
    /* The keeper of this directory had another uid: another state directory was used, or an older
     * version. A running service keeps its directory. */
    if (geteuid() == 0 && st->st_uid != keeper && keeper_uid_of_state(st->st_uid) &&
        keeper_uid_is_free(st->st_uid))
        return hand_over(fd, st->st_uid, keeper, &left, e)
                   ? err_wrap(e, "hand '%s' over to uid %u", QUOTED(path), keeper)
                   : 0;
    if (keeper_can_write(st, keeper))
        return 0;
    if (st->st_uid == geteuid() && keeper != geteuid() && is_empty(fd) &&
        fchown(fd, keeper, keeper) == 0)
        return 0;
    return err_set(e, ERR_DENIED, 0,
                   "uid %u, which the service runs as, cannot write to '%s' of uid %u, %s: 'chown "
                   "-R %u' it",
                   keeper, QUOTED(path), st->st_uid, purpose, keeper);
}

int execute_dir_open(const char *path, uid_t keeper, int *ret_fd, struct err *e)
{
    struct stat st;
    if (make_parents(path, e))
        return -1;
    int found = owned_make(AT_FDCWD, path, 0750, keeper, e);
    if (found < 0)
        return err_wrap(e, "%s", purpose);
    autoclose int fd = owned_open_dir(AT_FDCWD, path, found ? 0 : O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "open '%s', %s", QUOTED(path), purpose);
    if (found && make_usable(fd, &st, keeper, path, e))
        return -1;
    *ret_fd = fd_take(&fd);
    return 0;
}

#include "service/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/text.h"

/* ---- the uid for files ---- */

struct owner {
    bool other;
    int dumpable;
};

/* The call has no error, and a process without the right to it goes on with its own uid: then the
 * next call fails. */
static struct owner become(uid_t uid)
{
    struct owner o = { .other = uid != geteuid(), .dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) };
    if (o.other)
        (void)setfsuid(uid);
    return o;
}

/* Also brings back the files in /proc, which a process loses that changes a uid. Leaves errno. */
static void back(const struct owner *o)
{
    int saved = errno;
    if (o->other) {
        (void)setfsuid(geteuid());
        (void)prctl(PR_SET_DUMPABLE, o->dumpable, 0, 0, 0);
    }
    errno = saved;
}

/* ---- files ---- */

int owned_open_dir(int dir_fd, const char *name, int flags)
{
    struct stat st;
    flags |= O_DIRECTORY | O_CLOEXEC;
    int fd = openat(dir_fd, name, flags | O_RDONLY);
    if (fd >= 0 || errno != EACCES)
        return fd;
    autoclose int found = openat(dir_fd, name, flags | O_PATH);
    if (found < 0 || fstat(found, &st) < 0)
        return -1;
    struct owner o = become(st.st_uid);
    fd = openat(found, ".", flags | O_RDONLY);
    back(&o);
    return fd;
}

int owned_chmod(int fd, mode_t mode)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -1;
    struct owner o = become(st.st_uid);
    int rc = fchmod(fd, mode);
    back(&o);
    return rc;
}

/* ---- a directory ---- */

enum { GROUP_WRITES = 0770, FILES = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* Opens it, too: later its parents may keep the owner out. */
static int make_as_owner(int place_fd, const char *name, uid_t owner)
{
    struct owner o = become(owner);
    int rc = mkdirat(place_fd, name, GROUP_WRITES);
    autoclose int fd = rc < 0 ? -1 : openat(place_fd, name, FILES);
    rc = fd < 0 ? -1 : fchmod(fd, GROUP_WRITES); /* despite our umask */
    back(&o);
    return rc < 0 ? -1 : fd_take(&fd);
}

/* The owner gives it the group of the owner. */
static int settle(int fd, mode_t mode, uid_t owner)
{
    struct owner o = become(owner);
    (void)setfsgid(owner);
    int rc = fchown(fd, (uid_t)-1, owner) < 0 ? -1 : fchmod(fd, mode);
    int saved = errno;
    (void)setfsgid(getegid());
    errno = saved;
    back(&o);
    return rc;
}

/* The owner cannot write to our directory, and we cannot change an owner. So the owner makes the
 * directory in a place that our group may write to. We move it, which our group may do with it as well. */
static int make_in_place(int dir_fd, const char *name, mode_t mode, uid_t owner)
{
    char place[PATH_MAX], left[PATH_MAX];
    (void)snprintf(place, sizeof place, "%s.new", name);
    if ((size_t)snprintf(left, sizeof left, "%s.new/d", name) >= sizeof left) {
        errno = ENAMETOOLONG;
        return -1;
    }
    (void)unlinkat(dir_fd, left, AT_REMOVEDIR); /* after a crash */
    (void)unlinkat(dir_fd, place, AT_REMOVEDIR);
    if (mkdirat(dir_fd, place, 0700) < 0)
        return -1;
    autoclose int fd = openat(dir_fd, place, FILES);
    autoclose int made = fd < 0 || fchmod(fd, GROUP_WRITES) < 0 ? -1
                                                                : make_as_owner(fd, "d", owner);
    int rc = made < 0 || renameat(fd, "d", dir_fd, name) < 0 || settle(made, mode, owner) < 0 ? -1
                                                                                              : 0;
    int saved = errno;
    (void)unlinkat(dir_fd, left, AT_REMOVEDIR);
    (void)unlinkat(dir_fd, place, AT_REMOVEDIR);
    errno = saved;
    return rc;
}

int owned_make(int dir_fd, const char *name, mode_t mode, uid_t owner, struct err *e)
{
    if (mkdirat(dir_fd, name, mode) < 0)
        return errno == EEXIST ? 1 : err_set(e, ERR_KERNEL, errno, "make '%s'", QUOTED(name));
    /* It is given away, so it must not be a link that someone put in its place. */
    autoclose int fd = openat(dir_fd, name, FILES);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open '%s'", QUOTED(name));
    /* independent of the umask */
    if (fchmod(fd, mode) == 0 && (owner == geteuid() || fchown(fd, owner, owner) == 0))
        return 0;
    int failed = errno;
    if (failed == EPERM && unlinkat(dir_fd, name, AT_REMOVEDIR) == 0)
        failed = make_in_place(dir_fd, name, mode, owner) < 0 ? errno : 0;
    return failed ? err_set(e, ERR_KERNEL, failed, "give '%s' to uid %u", QUOTED(name), owner) : 0;
}

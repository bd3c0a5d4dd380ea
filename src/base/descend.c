#include "base/descend.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"

enum { NAME_BYTES = 255 };

static int refuse(int error)
{
    errno = error;
    return -1;
}

/* The number that a mount keeps as long as it exists. */
static int mount_of(int fd, uint64_t *ret)
{
    struct statx sx;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &sx) < 0)
        return -1;
    if (!(sx.stx_mask & STATX_MNT_ID))
        return refuse(ENOSYS);
    *ret = sx.stx_mnt_id;
    return 0;
}

/* One name, which has no slash. With O_PATH and without O_DIRECTORY the link itself would be opened;
 * with O_DIRECTORY the error does not tell a link from a file. */
static int step(int dir_fd, const char *name, int flags, bool link_is_opened)
{
    struct stat st;
    int fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOTDIR && !link_is_opened &&
        fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return refuse(S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR);
    if (fd < 0 || link_is_opened || !(flags & O_PATH))
        return fd;
    if (fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode))
        return fd;
    (void)close(fd);
    return refuse(ELOOP);
}

/* The next name of the path, and the rest behind its slashes. "." is skipped; an empty name means that
 * there is none. */
static int next_name(const char **path, char name[NAME_BYTES + 1])
{
    size_t n;
    do {
        *path += strspn(*path, "/");
        n = strcspn(*path, "/");
        if (n > NAME_BYTES)
            return refuse(ENAMETOOLONG);
        memcpy(name, *path, n);
        name[n] = '\0';
        *path += n;
    } while (strcmp(name, ".") == 0);
    return strcmp(name, "..") == 0 ? refuse(EXDEV) : 0;
}

static bool is_last(const char *rest)
{
    while (*rest == '/' || (rest[0] == '.' && (rest[1] == '/' || rest[1] == '\0')))
        rest++;
    return *rest == '\0';
}

/* The directory that the first name is looked up in. */
static int first_directory(int dir_fd, const char *path, uint64_t resolve)
{
    const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    if (path[0] == '\0')
        return refuse(ENOENT);
    if (path[0] == '/')
        return resolve & RESOLVE_BENEATH ? refuse(EXDEV) : open("/", flags);
    return openat(dir_fd, ".", flags);
}

int descend_in_steps(int dir_fd, const char *path, int flags, uint64_t resolve)
{
    char name[NAME_BYTES + 1];
    uint64_t mount = 0, now = 0;
    bool link_is_opened = flags & O_NOFOLLOW && flags & O_PATH;
    autoclose int at = first_directory(dir_fd, path, resolve);
    if (at < 0 || (resolve & RESOLVE_NO_XDEV && mount_of(at, &mount)))
        return -1;
    for (bool last = false; !last;) {
        if (next_name(&path, name))
            return -1;
        last = is_last(path);
        bool directory = !last || *path != '\0' || name[0] == '\0';
        int next = step(at, name[0] ? name : ".",
                        last ? flags | (directory ? O_DIRECTORY : 0) : O_PATH | O_DIRECTORY,
                        link_is_opened && !directory);
        if (next < 0)
            return -1;
        fd_close(&at);
        at = next;
        if (resolve & RESOLVE_NO_XDEV && mount_of(at, &now))
            return -1;
        if (now != mount)
            return refuse(EXDEV);
    }
    return fd_take(&at);
}

int descend_open(int dir_fd, const char *path, int flags, uint64_t resolve)
{
    struct open_how how = { .flags = (unsigned)(flags | O_CLOEXEC),
                            .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | resolve };
    int fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof how);
    return fd < 0 && errno == ENOSYS ? descend_in_steps(dir_fd, path, flags, resolve) : fd;
}

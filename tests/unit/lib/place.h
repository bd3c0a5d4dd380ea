/* tests/unit/lib/place.h — a directory for one test, and a count of open descriptors. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/tree.h"
#include "check.h"

struct place {
    char path[256];
    int fd;
};

[[maybe_unused]] static bool place_init(struct place *p)
{
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(p->path, sizeof p->path, "%s/unit-test-XXXXXX",
                   tmp && *tmp == '/' ? tmp : "/tmp");
    p->fd = -1;
    if (!CHECK(mkdtemp(p->path) != NULL))
        return false;
    p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return CHECK(p->fd >= 0) && CHECK(fchmod(p->fd, 0755) == 0);
}

[[maybe_unused]] static void place_done(struct place *p)
{
    struct err e = { 0 };
    const char *slash = strrchr(p->path, '/');
    fd_close(&p->fd);
    autoclose int parent = -1;
    if (slash) {
        *(char *)slash = '\0';
        parent = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (!CHECK_INT(tree_remove(parent, slash + 1, &e), 0))
            printf("    %s\n", e.text);
    }
}

/* A new file with this text; its mode is exact. */
[[maybe_unused]] static bool place_file(const struct place *p, const char *name, const char *text,
                                        mode_t mode)
{
    autoclose int fd = openat(p->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return CHECK(fd >= 0) && CHECK(fd_write_all(fd, text, strlen(text)) == 0) &&
           CHECK(fchmod(fd, mode) == 0);
}

[[maybe_unused]] static bool place_has(const struct place *p, const char *name)
{
    struct stat st;
    return fstatat(p->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* How many entries a directory has. */
[[maybe_unused]] static int entries(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
    autodir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d)
        return -1;
    for (struct dirent *entry; (entry = readdir(d));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    return n;
}

/* How many descriptors this process has open. */
[[maybe_unused]] static int open_fds(void)
{
    return entries(AT_FDCWD, "/proc/self/fd") - 1; /* without the one that looks */
}

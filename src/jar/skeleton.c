#include "jar/skeleton.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/fdio.h"

/* /bin and the others are links into /usr on current systems, directories on older ones. */
#define SYSTEM_DIRS "bin", "sbin", "lib", "lib32", "lib64", "libx32"

/* A star stands for a version. Packages keep these settings outside of /usr, and their programs do
 * not start without them (Java), or start without their modules (PHP). Only the directories that a
 * program at the command line needs: beside them, administrators keep passwords (php/VERSION/fpm). */
static const char *const binds[] = {
    "usr",           "etc/alternatives",
    "etc/fonts",     "etc/java-*-openjdk",
    "etc/php/*/cli", "etc/php/*/mods-available",
    SYSTEM_DIRS,     "etc/ssl/certs", /* of authorities; keys are in etc/ssl/private */
};
static const char *const system_dirs[] = { SYSTEM_DIRS };

static const struct {
    const char *path;
    mode_t mode;
} dirs[] = {
    { "etc", 0755 }, { "dev", 0755 },         { "proc", 0555 }, { "run", 0755 },
    { "var", 0755 }, { "home", 0755 },        { "tmp", 01777 }, { "sandbox", 0755 },
    { "opt", 0755 }, { "opt/belljar", 0755 }, /* base/place.h */
    { "mnt", 0755 },                          /* spec/mount.h */
};

static const struct {
    const char *path, *text;
} files[] = {
    { "etc/passwd", "root:x:0:0:root:/:/usr/sbin/nologin\n"
                    "sandbox:x:1000:1000:sandbox:/sandbox:/bin/bash\n"
                    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n" },
    { "etc/group", "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n" },
    { "etc/hosts", "127.0.0.1 localhost belljar\n::1 localhost\n" },
    { "etc/hostname", "belljar\n" },
    { "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns files\n" },
    { "etc/resolv.conf", "nameserver 127.0.0.1\n" },
};

static void add_bind(int root_fd, const char *path, struct skeleton_binds *b)
{
    struct stat st;
    if (b->n < SKELETON_BINDS_MAX && strlen(path) < SKELETON_PATH_SIZE &&
        fstatat(root_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
        (void)snprintf(b->paths[b->n++], SKELETON_PATH_SIZE, "%s", path);
}

/* The star is a part of one name of the path. */
static void add_matching(int root_fd, const char *pattern, struct skeleton_binds *b)
{
    char parent[SKELETON_PATH_SIZE], name[SKELETON_PATH_SIZE];
    const char *star = strchr(pattern, '*'), *first = star;
    while (first > pattern && first[-1] != '/')
        first--;
    const char *rest = star + strcspn(star, "/");
    (void)snprintf(parent, sizeof parent, "%.*s", (int)(first - pattern), pattern);
    (void)snprintf(name, sizeof name, "%.*s", (int)(rest - first), first);
    int fd = openat(root_fd, parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    autodir DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        fd_close(&fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[sizeof parent + sizeof entry->d_name + SKELETON_PATH_SIZE];
        (void)snprintf(path, sizeof path, "%s%s%s", parent, entry->d_name, rest);
        if (fnmatch(name, entry->d_name, FNM_PERIOD) == 0)
            add_bind(root_fd, path, b);
    }
}

void skeleton_find_binds(int root_fd, struct skeleton_binds *ret)
{
    ret->n = 0;
    for (size_t i = 0; i < ARRAY_LEN(binds); i++) {
        if (strchr(binds[i], '*'))
            add_matching(root_fd, binds[i], ret);
        else
            add_bind(root_fd, binds[i], ret);
    }
}

/* Makes every directory above `path`. */
static int make_parents(int dst_fd, const char *path, struct err *e)
{
    char parent[SKELETON_PATH_SIZE];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        (void)snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
        if (mkdirat(dst_fd, parent, 0755) < 0 && errno != EEXIST)
            return err_set(e, ERR_KERNEL, errno, "make /%s of the root", parent);
    }
    return 0;
}

static int write_new(int dst_fd, const char *path, const void *bytes, size_t n, struct err *e)
{
    autoclose int fd = openat(dst_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 || fd_write_all(fd, bytes, n))
        return err_set(e, ERR_KERNEL, errno, "write /%s of the root", path);
    return 0;
}

/* Files of the machine that its packages need and that Debian keeps outside of /usr. A machine
 * without such a file does not need it. */
static const char *const copied[] = {
    "etc/ld.so.cache",  /* without it the dynamic linker searches every library directory */
    "etc/matplotlibrc", /* without it matplotlib cannot be imported */
    /* R does not start without its own. Renviron.site and Rprofile.site are the administrator's, and
     * a usual place for tokens. */
    "etc/R/Renviron",
    "etc/R/ldpaths",
    "etc/R/Makeconf",
    "etc/R/javaconf",
    "etc/R/repositories",
};

static int copy_file(int src_root_fd, int dst_fd, const char *path, struct err *e)
{
    autoclose int fd = openat(src_root_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_set(e, ERR_KERNEL, errno, "open /%s", path);
    scoped(buf) text = { 0 };
    if (fd_read_to_buf(fd, 4 << 20, &text, e))
        return err_wrap(e, "read /%s", path);
    if (make_parents(dst_fd, path, e))
        return -1;
    return write_new(dst_fd, path, text.data, text.len, e);
}

static int copy_system_link(int src_root_fd, int dst_fd, const char *name, struct err *e)
{
    char target[256];
    ssize_t n = readlinkat(src_root_fd, name, target, sizeof target - 1);
    if (n > 0) {
        target[n] = '\0';
        if (symlinkat(target, dst_fd, name) < 0)
            return err_set(e, ERR_KERNEL, errno, "make the link /%s of the root", name);
        return 0;
    }
    return 0; /* it is a directory, which is bound, or it does not exist */
}

/* Makes the mount points. */
static int make_bind_points(int src_root_fd, int dst_fd, struct err *e)
{
    struct skeleton_binds found;
    skeleton_find_binds(src_root_fd, &found);
    for (size_t i = 0; i < found.n; i++) {
        if (make_parents(dst_fd, found.paths[i], e))
            return -1;
        if (mkdirat(dst_fd, found.paths[i], 0755) < 0)
            return err_set(e, ERR_KERNEL, errno, "make /%s of the root", found.paths[i]);
    }
    return 0;
}

int skeleton_build(int src_root_fd, int dst_fd, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (mkdirat(dst_fd, dirs[i].path, dirs[i].mode) < 0)
            return err_set(e, ERR_KERNEL, errno, "make /%s of the root", dirs[i].path);
    for (size_t i = 0; i < ARRAY_LEN(system_dirs); i++)
        if (copy_system_link(src_root_fd, dst_fd, system_dirs[i], e))
            return -1;
    if (make_bind_points(src_root_fd, dst_fd, e))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (write_new(dst_fd, files[i].path, files[i].text, strlen(files[i].text), e))
            return -1;
    if (symlinkat("/tmp", dst_fd, "var/tmp") < 0)
        return err_set(e, ERR_KERNEL, errno, "make the link /var/tmp of the root");
    /* Programs that were written for E2B's sandboxes know their home by this name. */
    if (symlinkat("/sandbox", dst_fd, "home/user") < 0)
        return err_set(e, ERR_KERNEL, errno, "make the link /home/user of the root");
    for (size_t i = 0; i < ARRAY_LEN(copied); i++)
        if (copy_file(src_root_fd, dst_fd, copied[i], e))
            return -1;
    return 0;
}

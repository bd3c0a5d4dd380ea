#include "jar/skeleton.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/fdio.h"

/* /bin and its like are links into /usr on current systems, directories on older ones. */
#define SYSTEM_DIRS "bin", "sbin", "lib", "lib32", "lib64", "libx32"

const char *const skeleton_binds[] = { "usr", "etc/alternatives", "etc/fonts", SYSTEM_DIRS, NULL };
static const char *const system_dirs[] = { SYSTEM_DIRS };

static const struct {
    const char *path;
    mode_t mode;
} dirs[] = {
    { "usr", 0755 },       { "etc", 0755 },     { "etc/alternatives", 0755 },
    { "etc/fonts", 0755 }, { "dev", 0755 },     { "proc", 0555 },
    { "run", 0755 },       { "var", 0755 },     { "home", 0755 },
    { "tmp", 01777 },      { "sandbox", 0755 },
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
    { "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n" },
};

static int write_new(int dst_fd, const char *path, const void *bytes, size_t n, struct err *e)
{
    autoclose int fd = openat(dst_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 || fd_write_all(fd, bytes, n))
        return err_set(e, ERR_KERNEL, errno, "write /%s of the root", path);
    return 0;
}

/* Files of the machine's own that programs of its packages cannot do without; where there is none, none is missed. Debian
 * keeps them outside of /usr. */
static const char *const copied[] = {
    "etc/ld.so.cache",  /* or the dynamic linker looks through every library directory */
    "etc/matplotlibrc", /* or matplotlib cannot be imported */
};

static int copy_file(int src_root_fd, int dst_fd, const char *path, struct err *e)
{
    autoclose int fd = openat(src_root_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_set(e, ERR_KERNEL, errno, "open /%s", path);
    auto(buf) text = { 0 };
    if (fd_read_to_buf(fd, 4 << 20, &text, e))
        return err_wrap(e, "read /%s", path);
    return write_new(dst_fd, path, text.data, text.len, e);
}

static int copy_system_dir(int src_root_fd, int dst_fd, const char *name, struct err *e)
{
    char target[256];
    ssize_t n = readlinkat(src_root_fd, name, target, sizeof target - 1);
    if (n > 0) {
        target[n] = '\0';
        if (symlinkat(target, dst_fd, name) < 0)
            return err_set(e, ERR_KERNEL, errno, "make the link /%s of the root", name);
        return 0;
    }
    struct stat st;
    if (fstatat(src_root_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
        return 0; /* this machine has none */
    if (mkdirat(dst_fd, name, 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "make /%s of the root", name);
    return 0;
}

int skeleton_build(int src_root_fd, int dst_fd, struct err *e)
{
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
        if (mkdirat(dst_fd, dirs[i].path, dirs[i].mode) < 0)
            return err_set(e, ERR_KERNEL, errno, "make /%s of the root", dirs[i].path);
    for (size_t i = 0; i < sizeof system_dirs / sizeof system_dirs[0]; i++)
        if (copy_system_dir(src_root_fd, dst_fd, system_dirs[i], e))
            return -1;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (write_new(dst_fd, files[i].path, files[i].text, strlen(files[i].text), e))
            return -1;
    if (symlinkat("/tmp", dst_fd, "var/tmp") < 0)
        return err_set(e, ERR_KERNEL, errno, "make the link /var/tmp of the root");
    for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++)
        if (copy_file(src_root_fd, dst_fd, copied[i], e))
            return -1;
    return 0;
}

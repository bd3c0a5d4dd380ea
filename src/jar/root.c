#include "jar/root.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/place.h"
#include "jar/mount_ops.h"
#include "jar/mounts.h"
#include "jar/skeleton.h"

#define SEALED (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* All device nodes of a jar, with the numbers that they have on the host. */
static const struct {
    const char *name;
    unsigned major, minor;
} devices[] = {
    { "null", 1, 3 }, { "zero", 1, 5 }, { "full", 1, 7 }, { "random", 1, 8 }, { "urandom", 1, 9 },
};

static const struct {
    const char *name, *target;
} dev_links[] = {
    { "fd", "/proc/self/fd" },       { "stdin", "/proc/self/fd/0" },
    { "stdout", "/proc/self/fd/1" }, { "stderr", "/proc/self/fd/2" },
    { "ptmx", "pts/ptmx" }, /* it leads nowhere unless ROOT_TERMINALS */
};

/* Buffers, line discipline and names of one terminal take up to 160 KiB. */
#define TERMINALS_MAX "8"

enum { OUR_INODES = 4 }; /* of scratch: its root, and the directories in it */

/* pivot_root(".", ".") stacks the old root on the new one; detaching it leaves the new one
 * alone. */
static int pivot_here(struct err *e)
{
    if (syscall(SYS_pivot_root, ".", ".") < 0)
        return err_set(e, ERR_KERNEL, errno, "change the root");
    if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return err_set(e, ERR_KERNEL, errno, "leave the old root");
    return 0;
}

/* Makes the node; without the right to do so, binds the node of the host over a file. */
static int add_device(int host_root_fd, int dev_fd, size_t i, struct err *e)
{
    const char *name = devices[i].name;
    if (mknodat(dev_fd, name, S_IFCHR | 0666, makedev(devices[i].major, devices[i].minor)) == 0)
        return 0;
    if (errno != EPERM)
        return err_set(e, ERR_KERNEL, errno, "make /dev/%s", name);
    char path[32];
    (void)snprintf(path, sizeof path, "dev/%s", name);
    autoclose int file = openat(dev_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    autoclose int tree = -1;
    if (file < 0)
        return err_set(e, ERR_KERNEL, errno, "make /dev/%s", name);
    if (mount_copy(host_root_fd, path, &tree, e))
        return -1;
    struct stat st;
    if (fstat(tree, &st) < 0 || !S_ISCHR(st.st_mode) ||
        st.st_rdev != makedev(devices[i].major, devices[i].minor))
        return err_set(e, ERR_KERNEL, 0, "/dev/%s of this machine is not the usual device", name);
    return mount_attach(tree, dev_fd, name, e);
}

static int build_dev(int host_root_fd, int template_fd, struct err *e)
{
    static const struct mount_option options[] = { { "size", "64k" }, { "mode", "755" } };
    autoclose int dev = -1;
    if (mount_new("tmpfs", options, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, &dev, e) ||
        mount_attach(dev, template_fd, "dev", e))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(devices); i++)
        if (add_device(host_root_fd, dev, i, e))
            return -1;
    for (size_t i = 0; i < ARRAY_LEN(dev_links); i++)
        if (symlinkat(dev_links[i].target, dev, dev_links[i].name) < 0)
            return err_set(e, ERR_KERNEL, errno, "make the link /dev/%s", dev_links[i].name);
    if (mkdirat(dev, "shm", 01777) < 0 || mkdirat(dev, "pts", 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "make directories in /dev");
    return mount_seal(dev, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, "/dev", e);
}

static int bind_runtime(int host_root_fd, int template_fd, struct err *e)
{
    struct skeleton_binds found;
    skeleton_find_binds(host_root_fd, &found);
    for (size_t i = 0; i < found.n; i++) {
        const char *path = found.paths[i];
        autoclose int tree = -1;
        if (mount_copy(host_root_fd, path, &tree, e) || mount_seal(tree, SEALED, path, e) ||
            mount_attach(tree, template_fd, path, e))
            return err_wrap(e, "bring in /%s", path);
    }
    return 0;
}

/* Our own programs and data for languages. Opened before /tmp is covered, because they may be
 * there. A belljar without them, as in some tests, has languages that are not installed. */
static int open_guest(int *ret_fd, struct err *e)
{
    char path[4200];
    struct err absent;
    if (place_find(GUEST_DIR, path, sizeof path, &absent))
        return 0;
    return mount_open_plain(AT_FDCWD, path, ret_fd, e);
}

static int bind_guest(int guest_fd, int template_fd, struct err *e)
{
    autoclose int tree = -1;
    if (guest_fd < 0)
        return 0;
    return mount_copy_opened(guest_fd, GUEST_DIR, &tree, e) ||
                   mount_seal(tree, SEALED, GUEST_DIR, e) ||
                   mount_attach(tree, template_fd, GUEST_ROOT + 1, e)
               ? -1
               : 0;
}

static int build_template(int host_root_fd, int guest_fd, struct err *e)
{
    static const struct mount_option options[] = { { "size", "8m" }, { "mode", "755" } };
    autoclose int root = -1;
    if (mount_new("tmpfs", options, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &root, e) ||
        mount_attach(root, AT_FDCWD, "jar", e))
        return -1;
    if (skeleton_build(host_root_fd, root, e) || bind_runtime(host_root_fd, root, e) ||
        bind_guest(guest_fd, root, e) || build_dev(host_root_fd, root, e))
        return -1;
    struct mount_attr attr = { .attr_set = SEALED };
    if (mount_setattr(root, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
        return err_set(e, ERR_KERNEL, errno, "make the model root read-only");
    return 0;
}

int root_host_enter(char *const *mount_roots, struct err *e)
{
    static const struct mount_option options[] = { { "size", "64k" }, { "mode", "755" } };
    autoclose int home = -1, proc = -1;
    autoclose int host_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (host_root < 0)
        return err_set(e, ERR_KERNEL, errno, "open /");
    autoclose int guest = -1;
    umask(0);
    scoped(mounts_roots) roots = { 0 };
    mounts_open_roots(&roots, mount_roots); /* the same: they may be in /tmp */
    if (open_guest(&guest, e))
        return -1;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return err_set(e, ERR_KERNEL, errno, "make our mounts private");
    /* Any directory that every system has: only this namespace sees it covered. */
    if (mount_new("tmpfs", options, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &home, e) ||
        mount_attach(home, AT_FDCWD, "/tmp", e))
        return -1;
    if (fchdir(home) < 0 || mkdir("proc", 0555) < 0 || mkdir("jar", 0755) < 0 ||
        mkdir("scratch", 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "make directories in our own root");
    if (mount_new("proc", NULL, 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, &proc,
                  e) ||
        mount_attach(proc, AT_FDCWD, "proc", e))
        return -1;
    if (build_template(host_root, guest, e))
        return err_wrap(e, "build the root that jars start from");
    if (mounts_attach_roots(&roots, e))
        return -1;
    return pivot_here(e);
}

int root_scratch_new(uint64_t bytes, uint64_t inodes, bool writable_root, bool noexec, uint32_t uid,
                     int *ret_fd, struct err *e)
{
    uint64_t our_inodes = writable_root ? 64 : OUR_INODES,
             our_bytes = writable_root ? 256 << 10 : 0;
    char size[24], nodes[24], owner[16];
    (void)snprintf(size, sizeof size, "%" PRIu64, bytes + our_bytes);
    (void)snprintf(nodes, sizeof nodes, "%" PRIu64, inodes + our_inodes);
    (void)snprintf(owner, sizeof owner, "%" PRIu32, uid);
    const struct mount_option options[] = {
        { "size", size }, { "nr_inodes", nodes }, { "mode", "700" },
        { "uid", owner }, { "gid", owner },
    };
    return mount_new("tmpfs", options, 5,
                     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (noexec ? MOUNT_ATTR_NOEXEC : 0),
                     ret_fd, e);
}

int root_small_new(uint64_t bytes, int *ret_fd, struct err *e)
{
    char size[24];
    (void)snprintf(size, sizeof size, "%" PRIu64, bytes);
    const struct mount_option options[] = { { "size", size }, { "mode", "755" } };
    return mount_new("tmpfs", options, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
                     ret_fd, e);
}

int root_scratch_resize(int scratch_fd, uint64_t bytes, uint64_t inodes, struct err *e)
{
    char size[24], nodes[24];
    (void)snprintf(size, sizeof size, "%" PRIu64, bytes);
    (void)snprintf(nodes, sizeof nodes, "%" PRIu64, inodes + OUR_INODES);
    autoclose int fs = fspick(scratch_fd, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);
    if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "size", size, 0) < 0 ||
        fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", nodes, 0) < 0 ||
        fsconfig(fs, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "resize a jar's file system");
    return 0;
}

/* Scratch directories and their places inside. */
static const struct {
    const char *dir;
    mode_t mode;
    const char *at;
} scratch_dirs[] = {
    { "sandbox", 0755, "sandbox" },
    { "tmp", 01777, "tmp" },
    { "shm", 01777, "dev/shm" },
};

static int bind_scratch(struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(scratch_dirs); i++) {
        char path[32];
        autoclose int tree = -1;
        (void)snprintf(path, sizeof path, "/scratch/%s", scratch_dirs[i].dir);
        if (mount_copy(AT_FDCWD, path, &tree, e) ||
            mount_attach(tree, AT_FDCWD, scratch_dirs[i].at, e))
            return -1;
    }
    return 0;
}

/* A writable root in scratch, with the mounts of the model root moved under it. */
static int cover_with_writable(int scratch_fd, struct err *e)
{
    autoclose int template_fd = open("/jar", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (template_fd < 0 || mkdirat(scratch_fd, "root", 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a writable root");
    autoclose int dir = openat(scratch_fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autoclose int root = -1, dev = -1;
    if (dir < 0)
        return err_set(e, ERR_KERNEL, errno, "open a writable root");
    if (skeleton_build(template_fd, dir, e) || mount_copy(AT_FDCWD, "/scratch/root", &root, e) ||
        mount_copy(AT_FDCWD, "/jar/dev", &dev, e) || mount_attach(root, AT_FDCWD, "/jar", e) ||
        mount_attach(dev, root, "dev", e))
        return -1;
    autoclose int guest = -1;
    if (mount_copy(template_fd, GUEST_ROOT + 1, &guest, e) ||
        mount_attach(guest, root, GUEST_ROOT + 1, e))
        return -1;
    struct skeleton_binds found;
    skeleton_find_binds(template_fd, &found);
    for (size_t i = 0; i < found.n; i++) {
        autoclose int tree = -1;
        if (mount_copy(template_fd, found.paths[i], &tree, e) ||
            mount_attach(tree, root, found.paths[i], e))
            return -1;
    }
    return 0;
}

static int cover_with_template(struct err *e)
{
    /* A mount that came with the namespace is locked and cannot become the root; a copy can. */
    autoclose int tree = -1;
    if (mount_copy(AT_FDCWD, "/jar", &tree, e))
        return -1;
    return mount_attach(tree, AT_FDCWD, "/jar", e);
}

/* In the new root. Readable data there must not be executable: the dynamic loader, which must be
 * executable itself, starts any file that it can read and map. */
static int deny_code_in_data(struct err *e)
{
    static const char *const data[] = { "usr/share", "etc" };
    for (size_t i = 0; i < ARRAY_LEN(data); i++) {
        struct stat st;
        autoclose int tree = -1;
        if (fstatat(AT_FDCWD, data[i], &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
            continue;
        if (mount_copy(AT_FDCWD, data[i], &tree, e) ||
            mount_seal(tree, SEALED | MOUNT_ATTR_NOEXEC, data[i], e) ||
            mount_attach(tree, AT_FDCWD, data[i], e))
            return -1;
    }
    return 0;
}

static int add_terminals(struct err *e)
{
    static const struct mount_option options[] = { { "max", TERMINALS_MAX },
                                                   { "mode", "600" },
                                                   { "ptmxmode", "666" } };
    autoclose int pts = -1;
    return mount_new("devpts", options, ARRAY_LEN(options), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
                     &pts, e) ||
                   mount_attach(pts, AT_FDCWD, "dev/pts", e)
               ? -1
               : 0;
}

int root_enter(int scratch_fd, unsigned options, const struct mounts_request *mounts, struct err *e)
{
    const bool noexec = options & ROOT_NOEXEC;
    static const struct mount_option of_proc[] = { { "subset", "pid" },
                                                   { "hidepid", "invisible" } };
    autoclose int proc = -1;
    umask(0);
    if (mount_attach(scratch_fd, AT_FDCWD, "/scratch", e))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(scratch_dirs); i++)
        if (mkdirat(scratch_fd, scratch_dirs[i].dir, scratch_dirs[i].mode) < 0)
            return err_set(e, ERR_KERNEL, errno, "make /%s", scratch_dirs[i].at);
    if (options & ROOT_WRITABLE ? cover_with_writable(scratch_fd, e) : cover_with_template(e))
        return -1;
    if (chdir("/jar") < 0)
        return err_set(e, ERR_KERNEL, errno, "enter the root");
    if (bind_scratch(e) || (noexec && deny_code_in_data(e)) ||
        (options & ROOT_TERMINALS && add_terminals(e)) ||
        mount_new("proc", of_proc, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
                  &proc, e) ||
        mount_attach(proc, AT_FDCWD, "proc", e) || mounts_show(mounts, noexec, e))
        return -1;
    return pivot_here(e);
}

int root_zygote_enter(int *ret_tmp_fd, struct err *e)
{
    static const struct mount_option proc_options[] = { { "subset", "pid" },
                                                        { "hidepid", "invisible" } };
    static const struct mount_option tmp_options[] = { { "size", "16m" }, { "mode", "1777" } };
    autoclose int proc = -1, tmp = -1;
    umask(022);
    if (cover_with_template(e))
        return -1;
    if (chdir("/jar") < 0)
        return err_set(e, ERR_KERNEL, errno, "enter the zygote's root");
    if (mount_new("proc", proc_options, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
                  &proc, e) ||
        mount_attach(proc, AT_FDCWD, "proc", e) ||
        mount_new("tmpfs", tmp_options, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &tmp, e) ||
        mount_attach(tmp, AT_FDCWD, "tmp", e) || pivot_here(e))
        return -1;
    *ret_tmp_fd = fd_take(&tmp);
    return 0;
}

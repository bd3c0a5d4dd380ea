#include "jar/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "jar/as_owner.h"
#include "jar/root.h"
#include "spec/plumbing.h"

#define CERTIFICATES "/etc/ssl/certs"
#define OF_THE_MODEL "/jar" CERTIFICATES /* root_host_enter() */
#define ALL          "ca-certificates.crt"
#define OWN          "belljar-run.pem"
#define JAVA         "java" /* the directory of Java's store */
#define JAVA_STORE   "cacerts"
/* OpenSSL's hash of the subject of every authority (injector/authority.h). */
#define OWN_HASH     "36de339c.0"
enum { WAIT_MS = 10000, BYTES_MAX = 16 << 20, DEPTH = 2 };

/* ---- from the porter ---- */

static int take_files(int from_fd, int fds[PLUMBING_TRUST_FDS], struct err *e)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(PLUMBING_TRUST_FDS * sizeof(int))];
    } control;
    struct plumbing_head head;
    struct iovec part = { &head, sizeof head };
    struct msghdr m = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    struct pollfd p = { .fd = from_fd, .events = POLLIN };
    ssize_t n = poll(&p, 1, WAIT_MS) > 0 ? recvmsg(from_fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT)
                                         : -1;
    const struct cmsghdr *c = n == (ssize_t)sizeof head ? CMSG_FIRSTHDR(&m) : NULL;
    if (!c || c->cmsg_type != SCM_RIGHTS || head.first != PLUMBING_TRUST_HEAD ||
        c->cmsg_len != CMSG_LEN(PLUMBING_TRUST_FDS * sizeof(int)))
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "the process that holds the secrets of this run did not answer");
    memcpy(fds, CMSG_DATA(c), PLUMBING_TRUST_FDS * sizeof(int));
    return 0;
}

/* ---- the copy ---- */

static int copy_bytes(int from_fd, int to_dir, const char *name, struct err *e)
{
    scoped(buf) bytes = { 0 };
    autoclose int to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (to < 0 || lseek(from_fd, 0, SEEK_SET) < 0)
        return err_set(e, ERR_KERNEL, errno, "write a certificate of a jar");
    if (fd_read_to_buf(from_fd, BYTES_MAX, &bytes, e))
        return -1;
    return fd_write_all(to, bytes.data, bytes.len)
               ? err_set(e, ERR_KERNEL, errno, "write a certificate of a jar")
               : 0;
}

static int copy_link(int from_dir, int to_dir, const char *name, struct err *e)
{
    char target[1024];
    ssize_t n = readlinkat(from_dir, name, target, sizeof target - 1);
    if (n < 0)
        return err_set(e, ERR_KERNEL, errno, "read a link of " CERTIFICATES);
    target[n] = '\0';
    if (symlinkat(target, to_dir, name) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a link of " CERTIFICATES);
    return 0;
}

static int copy_file(int from_dir, int to_dir, const char *name, struct err *e)
{
    autoclose int fd = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? err_set(e, ERR_KERNEL, errno, "open a file of " CERTIFICATES)
                  : copy_bytes(fd, to_dir, name, e);
}

static int copy_dir(int from_fd, int to_dir, int depth, struct err *e);

static int copy_entry(int from_dir, int to_dir, const char *name, int depth, struct err *e)
{
    struct stat st;
    if (fstatat(from_dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at " CERTIFICATES);
    if (S_ISLNK(st.st_mode))
        return copy_link(from_dir, to_dir, name, e);
    if (S_ISREG(st.st_mode))
        return copy_file(from_dir, to_dir, name, e);
    if (!S_ISDIR(st.st_mode) || depth == DEPTH)
        return 0;
    if (mkdirat(to_dir, name, 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "copy " CERTIFICATES);
    int from = openat(from_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    autoclose int to = openat(to_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return copy_dir(from, to, depth + 1, e);
}

/* Takes from_fd. */
static int copy_dir(int from_fd, int to_dir, int depth, struct err *e)
{
    autodir DIR *dir = from_fd >= 0 ? fdopendir(from_fd) : NULL;
    if (!dir || to_dir < 0)
        return err_set(e, ERR_KERNEL, errno, "copy " CERTIFICATES);
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *name = entry->d_name;
        bool skipped = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                       (depth == 1 && (strcmp(name, ALL) == 0 || strcmp(name, OWN) == 0 ||
                                       strcmp(name, OWN_HASH) == 0 || strcmp(name, JAVA) == 0));
        if (!skipped && copy_entry(dirfd(dir), to_dir, name, depth, e))
            return -1;
    }
    return 0;
}

static int fill_java(int to_dir, int store_fd, struct err *e)
{
    if (mkdirat(to_dir, JAVA, 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a directory of " CERTIFICATES);
    autoclose int dir = openat(to_dir, JAVA, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return dir < 0 ? err_set(e, ERR_KERNEL, errno, "open a directory of " CERTIFICATES)
                   : copy_bytes(store_fd, dir, JAVA_STORE, e);
}

static int fill(int to_dir, const int fds[PLUMBING_TRUST_FDS], struct err *e)
{
    int from = open(OF_THE_MODEL, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0)
        return err_set(e, ERR_UNAVAILABLE, errno,
                       "secrets need the directory " CERTIFICATES " of this machine: install "
                       "ca-certificates");
    if (copy_dir(from, to_dir, 1, e) || copy_bytes(fds[PLUMBING_TRUST_ALL], to_dir, ALL, e) ||
        copy_bytes(fds[PLUMBING_TRUST_OWN], to_dir, OWN, e) ||
        fill_java(to_dir, fds[PLUMBING_TRUST_JAVA], e))
        return -1;
    return symlinkat(OWN, to_dir, OWN_HASH) < 0
               ? err_set(e, ERR_KERNEL, errno, "make a link of " CERTIFICATES)
               : 0;
}

/* The mounts and their user namespace in one call: outside of that namespace, the first would need
 * CAP_SYS_CHROOT. */
static int enter_mounts(const struct jar_host *h, int init_pidfd, struct err *e)
{
    if (as_owner_begin(h, e))
        return -1;
    if (setns(init_pidfd, CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return err_set(e, ERR_KERNEL, errno, "enter the mounts of a jar");
    return 0;
}

int trust_install(int from_fd, const struct jar_host *h, int init_pidfd, struct err *e)
{
    int fds[PLUMBING_TRUST_FDS];
    autoclose int mounted = -1;
    if (take_files(from_fd, fds, e))
        return -1;
    (void)umask(022);
    if (root_small_new(BYTES_MAX, &mounted, e) || fill(mounted, fds, e))
        return -1;
    struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
    if (mount_setattr(mounted, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
        return err_set(e, ERR_KERNEL, errno, "make " CERTIFICATES " of a jar read-only");
    if (enter_mounts(h, init_pidfd, e))
        return -1;
    if (move_mount(mounted, "", AT_FDCWD, CERTIFICATES, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return err_set(e, ERR_KERNEL, errno, "cover " CERTIFICATES " of a jar");
    return 0;
}

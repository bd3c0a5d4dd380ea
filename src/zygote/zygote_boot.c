#include "zygote/zygote_boot.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/caps.h"
#include "base/fdio.h"
#include "base/process.h"
#include "jar/confine.h"
#include "jar/confinement.h"
#include "jar/root.h"
#include "zygote/request.h"

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A copy, so that no path of the host is visible inside. */
static int copy_file(int from_fd, int dir_fd, const char *name, struct err *e)
{
    char block[1 << 16];
    ssize_t n;
    autoclose int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0555);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make the driver's file %s", name);
    for (off_t at = 0; (n = pread(from_fd, block, sizeof block, at)) > 0; at += n)
        if (fd_write_all(fd, block, (size_t)n))
            return err_set(e, ERR_KERNEL, errno, "write the driver's file %s", name);
    return n < 0 ? err_set(e, ERR_KERNEL, errno, "read the driver's file %s", name) : 0;
}

/* The root of jars, with a /proc and the files of the driver in /tmp; and a network namespace
 * without any interface that is up. */
static int enter_root(const struct zygote_files *files, struct err *e)
{
    autoclose int tmp = -1;
    if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) < 0)
        return err_set(e, ERR_KERNEL, errno, "make namespaces for a zygote");
    if (root_zygote_enter(&tmp, e))
        return -1;
    if (mkdirat(tmp, strrchr(ZYGOTE_DIR, '/') + 1, 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "make %s", ZYGOTE_DIR);
    autoclose int dir = open(ZYGOTE_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", ZYGOTE_DIR);
    for (int i = 0; files->def->files[i]; i++)
        if (copy_file(files->fds[i], dir, name_of(files->def->files[i]), e))
            return -1;
    return 0;
}

/* 0, 1 and 2 are /dev/null, 3 is the socket to the warden; there are no others. */
static int settle_fds(int fd, struct err *e)
{
    autoclose int null_fd = process_open_null(e);
    if (null_fd < 0)
        return -1;
    const int nowhere[3] = { null_fd, null_fd, null_fd };
    int keep = fd;
    if (confine_fds(nowhere, -1, &keep, e))
        return -1;
    if (keep != ZYGOTE_FD || fcntl(keep, F_SETFD, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "place the warden's descriptor");
    return 0;
}

static int become_nobody(const struct jar_host *h, struct err *e)
{
    if (caps_drop_bounding(e))
        return -1;
    if (h->zygote_uid != geteuid() && (setresgid(h->zygote_uid, h->zygote_uid, h->zygote_uid) < 0 ||
                                       setresuid(h->zygote_uid, h->zygote_uid, h->zygote_uid) < 0))
        return err_set(e, ERR_KERNEL, errno, "become uid %u", h->zygote_uid);
    return caps_clear(0, e) || confinement_enter(ROLE_ZYGOTE, NULL, e) ? -1 : 0;
}

static void run_interpreter(const struct zygote_def *def)
{
    enum { ENV_MAX = 32 };
    static const char *const always[] = {
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "HOME=/sandbox",
        "PWD=/sandbox",
        "TMPDIR=/tmp",
        "USER=sandbox",
        "LOGNAME=sandbox",
        "LANG=C.UTF-8",
    };
    char preload[128];
    const char *envp[ENV_MAX + 1];
    size_t n = 0;
    (void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s/%s", ZYGOTE_DIR, name_of(def->files[0]));
    envp[n++] = preload;
    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        envp[n++] = always[i];
    for (const char *const *entry = def->env; *entry && n < ENV_MAX; entry++)
        envp[n++] = *entry;
    envp[n] = NULL;
    (void)execve(def->argv[0], (char *const *)def->argv, (char *const *)envp);
}

void zygote_boot(struct jar_host *h, const struct zygote_files *files, int fd)
{
    struct zygote_hello hello = { 0 };
    struct err *e = &hello.err;
    int own = fd;
    (void)prctl(PR_SET_NAME, "jar-zygote", 0, 0, 0);
    /* The warden ignores some signals, and execve would keep them ignored. */
    if (confine_die_first(e) == 0 && confine_default_signals(e) == 0 && enter_root(files, e) == 0 &&
        settle_fds(fd, e) == 0) {
        own = ZYGOTE_FD;
        if (become_nobody(h, e) == 0) {
            run_interpreter(files->def);
            (void)!err_set(e, ERR_UNAVAILABLE, errno, "start %s", files->def->argv[0]);
        }
    }
    (void)!send(own, &hello, sizeof hello, MSG_NOSIGNAL);
    _exit(1);
}

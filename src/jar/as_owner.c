#include "jar/as_owner.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "jar/clone.h"

static bool is_other(const struct jar_host *h)
{
    return h->zygote_uid != h->own_uid;
}

int as_owner_begin(const struct jar_host *h, struct err *e)
{
    if (is_other(h) && seteuid(h->zygote_uid) < 0)
        return err_set(e, ERR_KERNEL, errno, "become uid %u for a moment", h->zygote_uid);
    return 0;
}

int as_owner_begin_looking(const struct jar_host *h, uid_t of, struct err *e)
{
    if (as_owner_begin(h, e))
        return -1;
    /* The uid for files alone. It reports no error, and the open that follows does. */
    if (is_other(h))
        (void)setfsuid(of);
    return 0;
}

/* A process that changes a uid is not dumpable any more, and its files in /proc belong to root. Its
 * children would inherit that. */
void as_owner_end(const struct jar_host *h)
{
    int saved = errno;
    if (is_other(h) && (seteuid(h->own_uid) < 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0))
        abort(); /* a warden with the wrong euid must not go on */
    errno = saved;
}

pid_t as_owner_clone(const struct jar_host *h, uint64_t namespaces, int cgroup_fd, int *ret_pidfd,
                     struct err *e)
{
    bool borrows = is_other(h) && cgroup_fd >= 0;
    if (as_owner_begin(h, e))
        return -1;
    if (borrows)
        (void)setfsuid(h->own_uid);
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    pid_t pid = clone_process(namespaces, cgroup_fd, ret_pidfd, e);
    if (pid > 0 && borrows)
        (void)setfsuid(h->zygote_uid);
    if (pid < 0)
        as_owner_end(h);
    return pid;
}

int as_owner_setns(const struct jar_host *h, int pidfd, int namespaces)
{
    struct err ignored;
    if (as_owner_begin(h, &ignored)) {
        errno = EPERM;
        return -1;
    }
    int rc = setns(pidfd, namespaces);
    as_owner_end(h);
    return rc;
}

/* Pid 1 of a jar: a table of steps that build the jar and give up every right, and then it only
 * waits. Runs in: the jar's init. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/caps.h"
#include "base/fdio.h"
#include "jar/confine.h"
#include "jar/files.h"
#include "jar/inside.h"
#include "jar/netns.h"
#include "jar/root.h"
#include "jar/seccomp.h"

static int wait_for_user_map(const struct inside *in, struct err *e)
{
    char go;
    if (fd_read_full(in->go_fd, &go, 1) != 1)
        return err_set(e, ERR_KERNEL, errno, "wait for the warden");
    return 0;
}

/* First, so that all memory of the jar counts. */
static int join_cgroup(const struct inside *in, struct err *e)
{
    return in->cgroup ? cgroup_join(in->cgroup, true, e) : 0;
}

/* No descriptor of the warden is open while files of a guest are unpacked. */
static int keep_own_fds(const struct inside *in, struct err *e)
{
    const int own[] = { in->go_fd, in->report_fd, in->scratch_fd, in->bundle_fd };
    return fd_keep_only(own, ARRAY_LEN(own), e);
}

static int become_user(const struct inside *in, struct err *e)
{
    (void)in;
    if (setresgid(INSIDE_UID, INSIDE_UID, INSIDE_UID) < 0 ||
        setresuid(INSIDE_UID, INSIDE_UID, INSIDE_UID) < 0)
        return err_set(e, ERR_KERNEL, errno, "become the jar's user");
    /* Otherwise a zygote, which is not root, could not enter our namespaces. give_up_privileges()
     * keeps the program from reading us. */
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "stay visible to the warden");
    return 0;
}

/* Only now: before, the uid for files may be another one than that of our files in /proc
 * (jar/as_owner.h). */
static int die_first(const struct inside *in, struct err *e)
{
    (void)in;
    return confine_die_first(e);
}

static int own_host_name(const struct inside *in, struct err *e)
{
    (void)in;
    static const char name[] = "belljar";
    if (sethostname(name, sizeof name - 1) < 0)
        return err_set(e, ERR_KERNEL, errno, "set the host name");
    return 0;
}

/* A namespace that is used again has its bounds already. */
static int prepare_net(const struct inside *in, struct err *e)
{
    return in->new_net && (netns_loopback_up(e) || netns_set_bounds(e)) ? -1 : 0;
}

static int build_root(const struct inside *in, struct err *e)
{
    const struct mounts_request mounts = { .roots = in->mount_roots, .list = in->job->mounts };
    unsigned options = (in->job->flags & JOB_WRITABLE_ROOT ? ROOT_WRITABLE : 0) |
                       (in->job->flags & JOB_LISTED ? ROOT_NOEXEC : 0) |
                       (in->terminals ? ROOT_TERMINALS : 0);
    return root_enter(in->scratch_fd, options, &mounts, e);
}

static int unpack(const struct inside *in, struct err *e)
{
    if (in->bundle_fd < 0)
        return 0;
    autoclose int dir = open("/sandbox", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_set(e, ERR_KERNEL, errno, "open /sandbox");
    return files_unpack(in->bundle_fd, dir, e);
}

static int give_up_privileges(const struct inside *in, struct err *e)
{
    (void)in;
    /* The program has our uid but must not read us through /proc/1. The kernel forbids that to a
     * process whose capabilities are not a superset of ours, and the program has none. This
     * capability allows nothing in a user namespace. (An undumpable init would also keep out a
     * warden that is not root.) */
    if (caps_clear(1ULL << CAP_AUDIT_WRITE, e) || confine_no_new_privs(e))
        return -1;
    /* An ignored SIGCHLD makes the kernel reap every orphan for us. */
    if (signal(SIGCHLD, SIG_IGN) == SIG_ERR)
        return err_set(e, ERR_KERNEL, errno, "ignore SIGCHLD");
    return 0;
}

static int (*const steps[])(const struct inside *, struct err *) = {
    join_cgroup,   keep_own_fds, wait_for_user_map, become_user, die_first,
    own_host_name, prepare_net,  build_root,        unpack,      give_up_privileges,
};

void init_main(const struct inside *in)
{
    struct err e = { 0 };
    (void)prctl(PR_SET_NAME, "jar-init", 0, 0, 0);
    int failed = 0;
    for (size_t i = 0; !failed && i < ARRAY_LEN(steps); i++)
        failed = steps[i](in, &e);
    /* Closes everything but the report, also the standard descriptors, which are the warden's. */
    int report = dup2(in->report_fd, 0);
    if (!failed && (report < 0 || close_range(1, ~0U, 0) < 0))
        failed = err_set(&e, ERR_KERNEL, errno, "close the descriptors of pid 1");
    if (!failed)
        failed = seccomp_apply(SECCOMP_INIT, &e);
    report_send(report == 0 ? 0 : in->report_fd, failed ? REPORT_FAILED : REPORT_READY, &e);
    if (failed)
        _exit(1);
    (void)close(0);
    for (;;)
        (void)pause();
}

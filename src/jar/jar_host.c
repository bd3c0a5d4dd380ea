/* Finds out once, before any jar, which layers this machine has. Runs in: warden. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/place.h"
#include "base/tree.h"
#include "jar/clone.h"
#include "jar/jar.h"
#include "jar/landlock.h"
#include "jar/root.h"

#define LAYERS_ALWAYS                                                                        \
    (LAYER_BIT(LAYER_NO_CAPS) | LAYER_BIT(LAYER_NO_NEW_PRIVS) | LAYER_BIT(LAYER_SECCOMP) |   \
     LAYER_BIT(LAYER_RLIMITS) | LAYER_BIT(LAYER_ENVIRONMENT) | LAYER_BIT(LAYER_CLOSED_FDS) | \
     LAYER_BIT(LAYER_OWN_SESSION))
#define LIMITS_OF_SCRATCH (LIMIT_BIT(LIMIT_DISK) | LIMIT_BIT(LIMIT_FILES))

/* The layer of each controller, and the limits that do not hold for the tree without it. */
static const struct {
    unsigned has;
    layer_set layer;
    limit_set limits;
} cgroup_limits[] = {
    { CGROUP_HAS_MEMORY, LAYER_BIT(LAYER_CGROUP_MEMORY),
      LIMIT_BIT(LIMIT_MEMORY) | LIMIT_BIT(LIMIT_MEMORY_SWAP) },
    { CGROUP_HAS_PIDS, LAYER_BIT(LAYER_CGROUP_PIDS), LIMIT_BIT(LIMIT_PIDS) },
    { CGROUP_HAS_CPU, LAYER_BIT(LAYER_CGROUP_CPU),
      LIMIT_BIT(LIMIT_CPU_PERCENT) | LIMIT_BIT(LIMIT_CPU_SHARES) },
};

/* A jar needs one of each; a machine may forbid a kind. */
static int namespaces_allowed(struct err *e)
{
    static const char *const kinds[] = { "user", "mnt", "pid", "net", "ipc", "uts", "cgroup" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        char path[64], text[32];
        (void)snprintf(path, sizeof path, "/proc/sys/user/max_%s_namespaces", kinds[i]);
        if (fd_read_file(AT_FDCWD, path, text, sizeof text) > 0 && strcmp(text, "0\n") == 0)
            return err_set(e, ERR_UNAVAILABLE, 0, "%s is 0, so no %s namespace can be made", path,
                           kinds[i]);
    }
    return 0;
}

/* Other obstacles (a chroot, a security module, a limit on their number) show only in an
 * attempt. */
static int try_user_namespace(struct err *e)
{
    siginfo_t info = { 0 };
    int pidfd = -1;
    pid_t pid = clone_process(0, -1, &pidfd, e);
    if (pid == 0)
        _exit(unshare(CLONE_NEWUSER) < 0 ? errno : 0);
    if (pid < 0)
        return -1;
    int waited = waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
    fd_close(&pidfd);
    if (waited < 0 || info.si_code != CLD_EXITED || info.si_status != 0)
        return err_set(e, ERR_UNAVAILABLE, info.si_status, "make a user namespace");
    return 0;
}

static int open_namespaces(struct jar_host *h, enum level level, struct err *e)
{
    if (namespaces_allowed(e))
        return -1;
    if (root_host_enter(h->mount_roots, e) || try_user_namespace(e))
        return -1;
    h->own_pid_ns_fd = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
    h->own_net_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    h->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (h->own_pid_ns_fd < 0 || h->own_net_fd < 0 || h->proc_fd < 0)
        return err_set(e, ERR_UNAVAILABLE, errno, "open our /proc");
    if (level == LEVEL_JAR && (!h->cgroups || h->cgroups->has != CGROUP_HAS_ALL))
        return err_set(e, ERR_UNAVAILABLE, 0, "no cgroup on this machine can enforce all limits");
    h->isolation.layers |= LAYERS_OF_NAMESPACES;
    int nice = getpriority(PRIO_PROCESS, 0);
    h->may_renice = setpriority(PRIO_PROCESS, 0, nice - 1) == 0 &&
                    setpriority(PRIO_PROCESS, 0, nice) == 0;
    return 0;
}

void jar_temp_dir(char *out, size_t size)
{
    const char *tmp = getenv("TMPDIR");
    bool usable = tmp && tmp[0] == '/' && strlen(tmp) < 128;
    (void)snprintf(out, size, "%s", usable ? tmp : "/tmp");
}

void jar_remove_homes(void)
{
    char dir[200], prefix[32];
    jar_temp_dir(dir, sizeof dir);
    (void)snprintf(prefix, sizeof prefix, JAR_HOME_PREFIX, (int)getpid());
    autodir DIR *d = opendir(dir);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        struct err ignored;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            (void)!tree_remove(dirfd(d), entry->d_name, &ignored);
    }
}

static int open_process(struct jar_host *h, struct err *e)
{
    struct err absent;
    jar_temp_dir(h->temp_dir, sizeof h->temp_dir);
    if (place_find(GUEST_DIR, h->guest_dir, sizeof h->guest_dir, &absent))
        h->guest_dir[0] = '\0';
    autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return err_set(e, ERR_KERNEL, errno, "open /");
    skeleton_find_binds(root, &h->dirs);
    if (h->isolation.landlock_abi == 0)
        return err_set(
            e, ERR_UNAVAILABLE, 0,
            "this kernel has no Landlock (lsm=landlock), and without it files are not protected");
    /* Orphans of a killed tree become our children, so that we see when none is left. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        return err_set(e, ERR_UNAVAILABLE, errno, "become a subreaper");
    h->isolation.unenforced |= LIMITS_OF_SCRATCH;
    return 0;
}

/* The euid that makes a namespace owns it. Ours changes for that moment, and we must keep our
 * capabilities. */
static int own_zygote_uid(struct jar_host *h, struct err *e)
{
    uint32_t uid;
    if (uids_take(&h->uids, &uid, e))
        return -1;
    h->zygote_uid = uid;
    if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) < 0)
        return err_set(e, ERR_UNAVAILABLE, errno, "keep our capabilities");
    return 0;
}

int jar_host_open(struct jar_host *h, enum level level, struct cgroup_host *cgroups,
                  char *const *mount_roots, struct err *e)
{
    *h = (struct jar_host){
        .most = limits_most(),
        .cgroups = cgroups,
        .mount_roots = mount_roots,
        .uids.lock_fd = -1,
        .own_pid_ns_fd = -1,
        .own_net_fd = -1,
        .own_uid = geteuid(),
        .zygote_uid = geteuid(),
        .cpus = (unsigned)get_nprocs(),
        .proc_fd = -1,
        .reclaimer = RECLAIMER_INIT,
        .watch = { .locks_fd = -1, .counter_pidfd = -1 },
        .isolation = { .level = level, .layers = LAYERS_ALWAYS, .landlock_abi = landlock_abi() }
    };
    /* In our own user namespace we are uid 0 too, but have no other uids. As real root, a jar
     * without its own uid would be root: so a failure to take a block is an error, at every
     * level. */
    bool many_uids = geteuid() == 0 && uids_exist();
    if (level == LEVEL_JAR && !many_uids)
        return err_set(e, ERR_UNAVAILABLE, 0, "it needs root, with uids from %u on",
                       OWN_UIDS_FIRST);
    if (many_uids && uids_open(&h->uids, e))
        return -1;
    watch_host_open(&h->watch);
    reclaim_open(&h->reclaimer, cgroups);
    if (many_uids && setgroups(0, NULL) < 0) {
        jar_host_done(h);
        return err_set(e, ERR_UNAVAILABLE, errno, "drop our groups");
    }
    if (many_uids && level != LEVEL_PROCESS && own_zygote_uid(h, e)) {
        jar_host_done(h);
        return -1;
    }
    if (level == LEVEL_PROCESS ? open_process(h, e) : open_namespaces(h, level, e)) {
        jar_host_done(h);
        return -1;
    }
    if (many_uids)
        h->isolation.layers |= LAYER_BIT(LAYER_OWN_UID);
    if (h->isolation.landlock_abi > 0)
        h->isolation.layers |= LAYER_BIT(LAYER_LANDLOCK);
    h->isolation.cgroup_version = cgroups ? (uint32_t)cgroups->version : 0;
    for (size_t i = 0; i < ARRAY_LEN(cgroup_limits); i++) {
        if (cgroups && (cgroups->has & cgroup_limits[i].has))
            h->isolation.layers |= cgroup_limits[i].layer;
        else
            h->isolation.unenforced |= cgroup_limits[i].limits;
    }
    /* v2 counts CPU time in any case, v1 in the controller */
    if (!cgroups)
        h->isolation.unenforced |= LIMIT_BIT(LIMIT_CPU_MS);
    return 0;
}

void jar_host_done(struct jar_host *h)
{
    reclaim_done(&h->reclaimer);
    spares_done(&h->spares);
    fd_close(&h->own_net_fd);
    uids_done(&h->uids);
    watch_host_done(&h->watch);
    fd_close(&h->own_pid_ns_fd);
    fd_close(&h->proc_fd);
}

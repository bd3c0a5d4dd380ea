/* From a clone of the warden to the guest's program: joins the jar, gives up every right, execs.
 * Runs in: the process that becomes the program; program_confine() also in embryos. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/caps.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "jar/confine.h"
#include "jar/files.h"
#include "jar/inside.h"
#include "jar/landlock.h"
#include "jar/seccomp.h"
#include "spec/listed.h"

static const struct landlock_rule jar_rules[] = {
    { "/", LANDLOCK_READ, false },
    { "/sandbox", LANDLOCK_WRITE, false },
    { "/tmp", LANDLOCK_WRITE, false },
    { "/dev/shm", LANDLOCK_WRITE, false },
    { "/dev/null", LANDLOCK_DEVICE, false },
    { "/dev/zero", LANDLOCK_DEVICE, false },
    { "/dev/full", LANDLOCK_DEVICE, false },
    { "/dev/random", LANDLOCK_DEVICE, false },
    { "/dev/urandom", LANDLOCK_DEVICE, false },
    { "/dev/pts", LANDLOCK_DEVICE, false },
    { NULL, 0, false },
};

/* A writable root: the mount keeps /usr read-only. */
static const struct landlock_rule writable_rules[] = {
    { "/", LANDLOCK_WRITE, false },
    { "/dev", LANDLOCK_DEVICE, false },
    { NULL, 0, false },
};

/* JOB_LISTED: only listed files are executed. Directories may be listed everywhere: every jar shows
 * the same names. */
static const struct landlock_rule listed_rules[] = {
    { "/", LANDLOCK_LIST, false },
    { "/etc", LANDLOCK_READ_DATA, false },
    { "/proc", LANDLOCK_READ_DATA, false },
    { "/usr/share", LANDLOCK_READ_DATA, true },
    { "/mnt", LANDLOCK_READ_DATA, true }, /* spec/mount.h */
    { "/sandbox", LANDLOCK_WRITE_DATA, false },
    { "/tmp", LANDLOCK_WRITE_DATA, false },
    { "/dev/shm", LANDLOCK_WRITE_DATA, false },
    { "/dev/null", LANDLOCK_DEVICE, false },
    { "/dev/zero", LANDLOCK_DEVICE, false },
    { "/dev/full", LANDLOCK_DEVICE, false },
    { "/dev/random", LANDLOCK_DEVICE, false },
    { "/dev/urandom", LANDLOCK_DEVICE, false },
};
enum { LISTED_RULES = ARRAY_LEN(listed_rules) };

/* Level process has the host's root: only the files that a runtime needs, besides jar_host.dirs.
 * Not /proc, which shows other processes. */
static const struct landlock_rule process_rules[] = {
    { "/usr", LANDLOCK_READ, false },
    { "/etc/ld.so.cache", LANDLOCK_READ, true },
    { "/etc/matplotlibrc", LANDLOCK_READ, true },
    { "/etc/R/Renviron", LANDLOCK_READ, true },
    { "/etc/R/ldpaths", LANDLOCK_READ, true },
    { "/etc/R/Makeconf", LANDLOCK_READ, true },
    { "/etc/R/javaconf", LANDLOCK_READ, true },
    { "/etc/R/repositories", LANDLOCK_READ, true },
    { "/etc/nsswitch.conf", LANDLOCK_READ, true },
    { "/etc/localtime", LANDLOCK_READ, true },
    { "/etc/ssl/openssl.cnf", LANDLOCK_READ, true }, /* Node does not start without it */
    { "/dev/null", LANDLOCK_DEVICE, false },
    { "/dev/zero", LANDLOCK_DEVICE, false },
    { "/dev/full", LANDLOCK_DEVICE, true },
    { "/dev/random", LANDLOCK_DEVICE, true },
    { "/dev/urandom", LANDLOCK_DEVICE, false },
};
enum { PROCESS_RULES = ARRAY_LEN(process_rules) };

/* Joins the namespaces of init, with the effective uid of their owner. The program is in the pid
 * namespace already, an embryo in all of them. */
static int enter_jar(const struct inside *in, struct err *e)
{
    const int all = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
    if (!in->entered && (seteuid(in->owner) < 0 || setns(in->init_pidfd, all) < 0))
        return err_set(e, ERR_KERNEL, errno, "enter the jar's namespaces");
    if (caps_drop_bounding(e))
        return -1;
    if (setresgid(INSIDE_UID, INSIDE_UID, INSIDE_UID) < 0 ||
        setresuid(INSIDE_UID, INSIDE_UID, INSIDE_UID) < 0)
        return err_set(e, ERR_KERNEL, errno, "become the jar's user");
    if (chdir("/sandbox") < 0)
        return err_set(e, ERR_KERNEL, errno, "enter /sandbox");
    return 0;
}

/* Level process: unpacks the files into a private directory of the host, with the uid of the
 * program. */
static int enter_home(const struct inside *in, struct err *e)
{
    if (caps_drop_bounding(e))
        return -1;
    if (in->uid != geteuid() &&
        (setgroups(0, NULL) < 0 || setresgid(in->uid, in->uid, in->uid) < 0 ||
         setresuid(in->uid, in->uid, in->uid) < 0))
        return err_set(e, ERR_KERNEL, errno, "become uid %u", in->uid);
    autoclose int dir = open(in->home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0 || mkdirat(dir, "work", 0700) < 0 || mkdirat(dir, "tmp", 0700) < 0)
        return err_set(e, ERR_KERNEL, errno, "make directories in %s", in->home);
    if (fchdir(dir) < 0 || chdir("work") < 0)
        return err_set(e, ERR_KERNEL, errno, "enter %s", in->home);
    autoclose int work = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (work < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", in->home);
    return files_unpack(in->bundle_fd, work, e);
}

static int apply_list(const struct inside *in, struct err *e)
{
    char *const *const lists[] = { in->job->executes, in->job->reads };
    static const enum landlock_access rights[] = { LANDLOCK_READ, LANDLOCK_READ_DATA };
    autofree struct landlock_rule *rules = calloc(LISTED_RULES + LISTED_MAX + 1, sizeof *rules);
    size_t n = LISTED_RULES;
    if (!rules)
        return err_no_memory(e, "Landlock rules");
    memcpy(rules, listed_rules, sizeof listed_rules);
    for (int i = 0; i < 2; i++)
        for (char *const *path = lists[i]; *path && n < LISTED_RULES + LISTED_MAX; path++)
            rules[n++] = (struct landlock_rule){ *path, rights[i], false };
    return landlock_apply(in->iso->landlock_abi, rules, false, e);
}

static int apply_landlock(const struct inside *in, struct err *e)
{
    if (in->job->flags & JOB_LISTED)
        return apply_list(in, e);
    if (!(in->iso->layers & LAYER_BIT(LAYER_LANDLOCK)))
        return 0;
    if (in->iso->level != LEVEL_PROCESS)
        return landlock_apply(in->iso->landlock_abi,
                              in->job->flags & JOB_WRITABLE_ROOT ? writable_rules : jar_rules,
                              false, e);
    char work[256], tmp[256], dirs[SKELETON_BINDS_MAX][SKELETON_PATH_SIZE + 1];
    (void)snprintf(work, sizeof work, "%s/work", in->home);
    (void)snprintf(tmp, sizeof tmp, "%s/tmp", in->home);
    struct landlock_rule rules[PROCESS_RULES + 4 + SKELETON_BINDS_MAX] = { 0 };
    size_t n = PROCESS_RULES;
    memcpy(rules, process_rules, sizeof process_rules);
    rules[n++] = (struct landlock_rule){ work, LANDLOCK_WRITE, false };
    rules[n++] = (struct landlock_rule){ tmp, LANDLOCK_WRITE, false };
    if (in->guest)
        rules[n++] = (struct landlock_rule){ in->guest, LANDLOCK_READ, true };
    for (size_t i = 0; i < in->dirs->n; i++) {
        (void)snprintf(dirs[i], sizeof dirs[i], "/%s", in->dirs->paths[i]);
        rules[n++] = (struct landlock_rule){ dirs[i], LANDLOCK_READ, true };
    }
    return landlock_apply(in->iso->landlock_abi, rules, true, e);
}

/* RLIMIT_NPROC counts all threads of a user. With its own user namespace or uid that is only the
 * jar. With the uid of the caller on the host, the caller's threads have to be added. */
static uint64_t threads_of_user(const struct inside *in)
{
    uint64_t n = 0;
    autodir DIR *proc = NULL;
    if (in->init_pidfd >= 0)
        return 1; /* init */
    if (in->iso->layers & LAYER_BIT(LAYER_OWN_UID) || !(proc = opendir("/proc")))
        return 0;
    for (struct dirent *entry; (entry = readdir(proc));) {
        struct stat st;
        char tasks[280];
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        (void)snprintf(tasks, sizeof tasks, "%s/task", entry->d_name);
        if (fstatat(dirfd(proc), tasks, &st, 0) == 0 && st.st_uid == in->uid && st.st_nlink > 2)
            n += st.st_nlink - 2; /* one link a thread */
    }
    return n;
}

static int settle_fds(const struct inside *in, int *report_fd, struct err *e)
{
    return in->stdio ? confine_fds(in->stdio, in->channel_fd, report_fd, e)
                     : fd_keep_only(in->kept_fds, in->n_kept, e);
}

static enum seccomp_profile seccomp_profile(const struct inside *in)
{
    if (in->job->flags & JOB_LISTED)
        return in->job->flags & JOB_OWN_CODE ? SECCOMP_LISTED_OWN_CODE : SECCOMP_LISTED;
    if (in->iso->level == LEVEL_PROCESS)
        return SECCOMP_PROCESS; /* it has no sockets either */
    return in->job->flags & JOB_NO_SOCKETS ? SECCOMP_NO_SOCKETS : SECCOMP_JAR;
}

/* The CPU time that this process used before a cgroup counted it. */
static uint64_t uncounted_cpu_us;

int program_confine(const struct inside *in, int *report_fd, struct err *e)
{
    bool embryo = !in->stdio;
    unsigned rlimits = RLIMITS_OF_ALL | (embryo ? 0 : confine_job_rlimits(in->job));
    if (in->cgroup && cgroup_join(in->cgroup, in->init_pidfd >= 0 && !embryo, e))
        return -1;
    /* an embryo inherits this from its zygote */
    if ((!embryo && confine_die_first(e)) ||
        (in->init_pidfd >= 0 ? enter_jar(in, e) : enter_home(in, e)))
        return -1;
    umask(022);
    uint64_t others = threads_of_user(in);
    /* Both as late as possible: each puts us into a new scheduling group. */
    if (in->cgroup && in->cgroup->host->version == 1)
        uncounted_cpu_us = clock_thread_cpu_us(); /* joining itself may count already */
    if (in->cgroup && cgroup_join_cpu(in->cgroup, e))
        return -1;
    /* After joining: the root of the cgroup namespace is the current cgroups. */
    if (in->init_pidfd >= 0 && unshare(CLONE_NEWCGROUP) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a cgroup namespace");
    if (setsid() < 0)
        return err_set(e, ERR_KERNEL, errno, "start a session");
    /* Making Landlock rules takes memory, so the job's memory limit comes after them. */
    if (settle_fds(in, report_fd, e) || (!embryo && confine_default_signals(e)) ||
        confine_no_new_privs(e) || apply_landlock(in, e) ||
        confine_rlimits(rlimits, in->iso, &in->job->limits, others, e) || caps_clear(0, e))
        return -1;
    return seccomp_apply(seccomp_profile(in), e);
}

/* Level process: adds the names of the private directory, which are known only now, unless the
 * caller set the variables. NULL without memory. */
static char *const *environment(const struct inside *in)
{
    static const struct {
        const char *name, *dir;
    } places[] = { { "HOME=", "work" }, { "PWD=", "work" }, { "TMPDIR=", "tmp" } };
    enum { PLACES = ARRAY_LEN(places) };
    size_t n = 0;
    while (in->job->envp[n])
        n++;
    char **envp = calloc(n + PLACES + 1, sizeof *envp);
    if (!envp)
        return NULL;
    memcpy(envp, in->job->envp, n * sizeof *envp);
    for (size_t i = 0; i < PLACES; i++) {
        bool chosen = false;
        for (size_t k = 0; in->job->envp[k]; k++)
            chosen = chosen ||
                     strncmp(in->job->envp[k], places[i].name, strlen(places[i].name)) == 0;
        if (!chosen && asprintf(&envp[n++], "%s%s/%s", places[i].name, in->home, places[i].dir) < 0)
            return NULL;
    }
    return envp;
}

void report_send(int fd, enum report_kind kind, const struct err *e)
{
    struct report r = { .kind = kind, .err = *e };
    (void)!fd_write_all(fd, &r, sizeof r);
}

/* The clock is read before the CPU time: so a thread never has more CPU time than wall time. */
void report_going(int fd, uint64_t cpu_from_us)
{
    struct report r = { .kind = REPORT_GOING, .at_us = clock_us() };
    r.cpu_us = clock_thread_cpu_us() - cpu_from_us;
    (void)!fd_write_all(fd, &r, sizeof r);
}

/* A file in /sandbox belongs to the guest: if it is not a program, the guest failed, with the exit
 * status that shells use. A compiler can be made to leave any file under the declared name. */
static void fail_as_guest(const char *program, const struct err *e)
{
    if (program[0] != '.')
        return;
    (void)dprintf(STDERR_FILENO, "%s\n", e->text);
    _exit(e->sys == ENOENT ? 127 : 126);
}

/* The files of a next job, with the rights of the guest: it is confined already. An earlier job may
 * have left anything in their places. It may also have filled the disk, so a failure is the guest's. */
static void unpack_next(void)
{
    struct err e = { 0 };
    autoclose int bundle = SESSION_CHANNEL;
    (void)chmod("/sandbox", 0755);
    autoclose int dir = open("/sandbox", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        (void)!err_set(&e, ERR_KERNEL, errno, "open /sandbox");
    else if (files_clear_places(bundle, dir, &e) == 0 && files_unpack(bundle, dir, &e) == 0)
        return;
    (void)dprintf(STDERR_FILENO, "belljar: the files of this stage cannot be written: %s\n",
                  e.text);
    _exit(126);
}

void program_main(const struct inside *in)
{
    struct err e = { 0 };
    int report_fd = in->report_fd;
    char *const *envp = in->init_pidfd >= 0 ? in->job->envp : environment(in);
    if (!envp)
        (void)!err_no_memory(&e, "the environment");
    else if (program_confine(in, &report_fd, &e) == 0) {
        if (in->unpacks)
            unpack_next();
        /* From now on, a closed pipe means that execve succeeded. */
        report_going(report_fd, uncounted_cpu_us);
        (void)execve(in->job->argv[0], in->job->argv, envp);
        (void)err_set(&e, errno == ENOENT ? ERR_NOT_FOUND : ERR_KERNEL, errno, "start %s",
                      in->job->argv[0]);
        fail_as_guest(in->job->argv[0], &e);
    }
    report_send(report_fd, REPORT_FAILED, &e);
    _exit(127);
}

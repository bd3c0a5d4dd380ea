#include "jar/jar.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/tree.h"
#include "jar/clone.h"
#include "jar/confine.h"
#include "jar/files.h"
#include "jar/inside.h"
#include "jar/root.h"
#include "jar/seccomp.h"

enum jar_state { BUILDING, STARTING, RUNNING, CLEARING, COLLECTING, GONE };

enum {
    SETUP_US = 30 * 1000000,   /* a set-up that takes longer has failed */
    COLLECT_US = 30 * 1000000, /* for reading outputs and, at level process, removing the files */
    TICK_US = 100000,          /* how often a running jar's counters are looked at */
    REAP_US = 1000,            /* how often a dying tree without pid namespace is looked at */
};

struct jar {
    struct jar_host *host;
    enum jar_state state;
    struct limits limits;
    bool writable_root;
    char **argv, **envp, **outputs;
    int stdio[3], bundle_fd, outputs_fd;

    bool has_cgroup, has_uid, started, program_reaped;
    struct cgroup cgroup;
    uint32_t uid;
    char home[256]; /* level process: the private directory; empty otherwise */
    int scratch_fd; /* the tmpfs, or the private directory */
    int init_pidfd;
    pid_t program; /* its number is its own while it is not reaped */
    int program_pidfd;
    int collector_pidfd;
    int report_fd;
    uint64_t started_us, deadline_us, due_us;
    struct cgroup_stats stats;
    struct jar_outcome outcome;
};

static char **copy_strv(char *const *strv)
{
    size_t n = 0;
    while (strv && strv[n])
        n++;
    char **copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = strdup(strv[i]);
        if (!copy[i]) {
            for (size_t k = 0; k < i; k++)
                free(copy[k]);
            free(copy);
            return NULL;
        }
    }
    return copy;
}

/* Wiped, not only freed: later jars begin as copies of the warden and must not find an earlier one's secrets. */
static void free_strv(char **strv)
{
    for (char **s = strv; s && *s; s++) {
        explicit_bzero(*s, strlen(*s));
        free(*s);
    }
    free(strv);
}

static void close_job_fds(struct jar *j)
{
    for (int i = 0; i < 3; i++)
        fd_close(&j->stdio[i]);
    fd_close(&j->bundle_fd);
}

static struct inside inside_of(const struct jar *j, int report_fd)
{
    return (struct inside){
        .iso = &j->host->isolation,
        .limits = &j->limits,
        .cgroup = j->has_cgroup ? &j->cgroup : NULL,
        .report_fd = report_fd,
        .bundle_fd = j->bundle_fd,
        .go_fd = -1,
        .scratch_fd = j->scratch_fd,
        .writable_root = j->writable_root,
        .init_pidfd = j->init_pidfd,
        .stdio = j->stdio,
        .argv = j->argv,
        .envp = j->envp,
        .home = j->home,
        .uid = j->uid,
    };
}

static int map_users(const struct jar *j, pid_t init, struct err *e)
{
    char path[48], map[64];
    (void)snprintf(map, sizeof map, "%d %" PRIu32 " 1", INSIDE_UID, j->uid);
    static const char *const files[] = { "setgroups", "uid_map", "gid_map" };
    for (int i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof path, "%d/%s", (int)init, files[i]);
        if (fd_write_file(j->host->proc_fd, path, i == 0 ? "deny" : map, e))
            return -1;
    }
    return 0;
}

static int start_init(struct jar *j, struct err *e)
{
    const uint64_t all = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                         CLONE_NEWUTS;
    autoclose int go_read = -1, go_write = -1, report_read = -1, report_write = -1;
    int go[2], report[2];
    if (fd_pipe(go, e))
        return -1;
    go_read = go[0], go_write = go[1];
    if (fd_pipe(report, e))
        return -1;
    report_read = report[0], report_write = report[1];
    if (root_scratch_new(j->limits.v[LIMIT_DISK], j->limits.v[LIMIT_FILES], j->uid, &j->scratch_fd,
                         e))
        return -1;
    pid_t init = clone_process(all, j->has_cgroup ? cgroup_clone_fd(&j->cgroup) : -1,
                               &j->init_pidfd, e);
    if (init < 0)
        return -1;
    if (init == 0) {
        (void)close(go_write); /* or we would wait for ourselves if the warden dies */
        struct inside in = inside_of(j, report_write);
        in.go_fd = go_read;
        init_main(&in);
    }
    if (map_users(j, init, e))
        return -1;
    /* It sleeps all its life, but when it is killed, all others wait for it to run. Not every warden may do this. */
    (void)setpriority(PRIO_PROCESS, (id_t)init, -20);
    if (fd_write_all(go_write, "", 1))
        return err_set(e, ERR_KERNEL, errno, "tell init to go on");
    j->report_fd = fd_take(&report_read);
    j->state = BUILDING;
    return 0;
}

/* Born into the jar's pid namespace: setns changes where our next child goes, and is undone right after. */
static pid_t clone_program(struct jar *j, struct err *e)
{
    int cgroup_fd = j->has_cgroup ? cgroup_clone_fd(&j->cgroup) : -1;
    if (j->init_pidfd < 0)
        return clone_process(0, cgroup_fd, &j->program_pidfd, e);
    if (setns(j->init_pidfd, CLONE_NEWPID) < 0)
        return err_set(e, ERR_KERNEL, errno, "enter the jar's pid namespace");
    pid_t pid = clone_process(0, cgroup_fd, &j->program_pidfd, e);
    if (pid != 0 && setns(j->host->own_pid_ns_fd, CLONE_NEWPID) < 0)
        abort(); /* our next child would be born in a stranger's jar: better no warden than that */
    return pid;
}

static int start_program(struct jar *j, struct err *e)
{
    int report[2];
    if (fd_pipe(report, e))
        return -1;
    autoclose int report_read = report[0], report_write = report[1];
    j->program = clone_program(j, e);
    if (j->program < 0)
        return -1;
    if (j->program == 0) {
        struct inside in = inside_of(j, report_write);
        program_main(&in);
    }
    close_job_fds(j);
    fd_close(&j->report_fd);
    j->report_fd = fd_take(&report_read);
    j->state = STARTING;
    return 0;
}

/* Level process: a private directory on the host, owned by the uid the program will have. */
static int make_home(struct jar *j, struct err *e)
{
    (void)snprintf(j->home, sizeof j->home, "%s/belljar-XXXXXX", j->host->temp_dir);
    if (!mkdtemp(j->home)) {
        j->home[0] = '\0';
        return err_set(e, ERR_KERNEL, errno, "make a directory in %s", j->host->temp_dir);
    }
    j->scratch_fd = open(j->home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (j->scratch_fd < 0 || (j->has_uid && fchown(j->scratch_fd, j->uid, j->uid) < 0))
        return err_set(e, ERR_KERNEL, errno, "prepare %s", j->home);
    return 0;
}

/* Programs open /dev/stdout and its like by name: their own pipes must let them. */
static int own_pipes(struct jar *j, struct err *e)
{
    for (int i = 0; i < 3; i++) {
        struct stat st;
        if (fstat(j->stdio[i], &st) < 0 || !S_ISFIFO(st.st_mode))
            return err_set(e, ERR_PROTOCOL, 0, "standard descriptor %d is not a pipe", i);
        if (j->has_uid && fchown(j->stdio[i], j->uid, j->uid) < 0)
            return err_set(e, ERR_KERNEL, errno, "give the program its pipes");
    }
    return 0;
}

static int copy_spec(struct jar *j, const struct jar_spec *spec, struct err *e)
{
    j->limits = spec->limits;
    j->writable_root = spec->writable_root;
    j->argv = copy_strv(spec->argv);
    j->envp = copy_strv(spec->envp);
    j->outputs = copy_strv(spec->outputs);
    if (!j->argv || !j->envp || !j->outputs)
        return err_set(e, ERR_NO_MEMORY, 0, "no memory for a jar");
    if (!j->argv[0] || j->argv[0][0] != '/')
        return err_set(e, ERR_BAD_REQUEST, 0, "the program's path must be absolute");
    const int from[5] = { spec->stdio[0], spec->stdio[1], spec->stdio[2], spec->bundle_fd,
                          spec->outputs_fd };
    int *const to[5] = { &j->stdio[0], &j->stdio[1], &j->stdio[2], &j->bundle_fd, &j->outputs_fd };
    for (int i = 0; i < 5; i++) {
        *to[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 3);
        if (*to[i] < 0)
            return err_set(e, ERR_KERNEL, errno, "take over a descriptor");
    }
    return 0;
}

static int build(struct jar *j, const struct jar_spec *spec, struct err *e)
{
    struct jar_host *h = j->host;
    uint64_t number = h->next_number++;
    if (limits_check(&spec->limits, e) || copy_spec(j, spec, e))
        return -1;
    if (h->uids.lock_fd >= 0) {
        if (uids_take(&h->uids, &j->uid, e))
            return -1;
        j->has_uid = true;
    } else {
        j->uid = geteuid(); /* 0 in a user namespace of our own: the caller's uid outside */
    }
    bool namespaces = h->isolation.level != LEVEL_PROCESS;
    if (h->cgroups) {
        if (cgroup_new(h->cgroups, number, &j->limits, namespaces ? 1 : 0, &j->cgroup, e))
            return -1;
        j->has_cgroup = true;
    }
    if (own_pipes(j, e))
        return -1;
    j->due_us = clock_us() + SETUP_US;
    if (namespaces)
        return start_init(j, e);
    return make_home(j, e) ? -1 : start_program(j, e);
}

int jar_spawn(struct jar_host *h, const struct jar_spec *spec, struct jar **ret_jar, struct err *e)
{
    struct jar *j = calloc(1, sizeof *j);
    if (!j)
        return err_set(e, ERR_NO_MEMORY, 0, "no memory for a jar");
    *j = (struct jar){ .host = h,
                       .stdio = { -1, -1, -1 },
                       .bundle_fd = -1,
                       .outputs_fd = -1,
                       .scratch_fd = -1,
                       .init_pidfd = -1,
                       .program_pidfd = -1,
                       .collector_pidfd = -1,
                       .report_fd = -1 };
    if (build(j, spec, e)) {
        jar_free(j);
        return -1;
    }
    *ret_jar = j;
    return 0;
}

static void wait_for(int pidfd)
{
    siginfo_t info;
    if (pidfd >= 0)
        (void)waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
}

static void send_kill(struct jar *j)
{
    if (j->has_cgroup)
        cgroup_kill(&j->cgroup);
    if (j->init_pidfd >= 0)
        (void)pidfd_send_signal(j->init_pidfd, SIGKILL, NULL, 0);
    if (j->program_pidfd >= 0 && !j->program_reaped) {
        /* At level process the filter denies setsid and setpgid, so the group is the whole tree, and the kernel
         * signals a group as one: no fork slips through. Until the program has made its own session there is no
         * such group yet, hence both. */
        if (j->init_pidfd < 0)
            (void)kill(-j->program, SIGKILL);
        (void)pidfd_send_signal(j->program_pidfd, SIGKILL, NULL, 0);
    }
}

void jar_kill(struct jar *j, enum end_reason reason)
{
    if (j->state >= CLEARING)
        return;
    if (j->outcome.evidence.reason == END_EXIT)
        j->outcome.evidence.reason = reason;
    send_kill(j);
}

static void fail(struct jar *j, const struct err *why)
{
    if (j->outcome.err.code == ERR_NONE) {
        j->outcome.err = *why;
        j->outcome.evidence.reason = END_FAILURE;
    }
}

/* A full tmpfs is the only trace that an ENOSPC leaves. */
static void note_full_disk(struct jar *j)
{
    struct statfs fs;
    if (j->home[0] || j->scratch_fd < 0 || fstatfs(j->scratch_fd, &fs) < 0)
        return;
    if (fs.f_bfree == 0)
        j->outcome.evidence.hits |= LIMIT_BIT(LIMIT_DISK);
    if (fs.f_ffree == 0)
        j->outcome.evidence.hits |= LIMIT_BIT(LIMIT_FILES);
}

static void note_counters(struct jar *j)
{
    struct evidence *ev = &j->outcome.evidence;
    if (j->has_cgroup)
        cgroup_read(&j->cgroup, &j->stats);
    if (j->stats.oom_kills > 0)
        ev->hits |= LIMIT_BIT(LIMIT_MEMORY);
    if (j->stats.pids_refused > 0)
        ev->hits |= LIMIT_BIT(LIMIT_PIDS);
    if (j->stats.cpu_us >= j->limits.v[LIMIT_CPU_MS] * 1000)
        ev->hits |= LIMIT_BIT(LIMIT_CPU_MS);
    note_full_disk(j);
}

/* When to look again: at the deadline, at the next tick, or when the CPU time could be used up. */
static uint64_t next_look(const struct jar *j, uint64_t now_us)
{
    uint64_t due = now_us + TICK_US;
    if (j->has_cgroup) {
        uint64_t left = j->limits.v[LIMIT_CPU_MS] * 1000 - j->stats.cpu_us;
        uint64_t soonest = now_us + left * 100 / j->limits.v[LIMIT_CPU_PERCENT] + 1000;
        due = soonest < due ? soonest : due;
    }
    return j->deadline_us < due ? j->deadline_us : due;
}

static void tick(struct jar *j, uint64_t now_us)
{
    struct evidence *ev = &j->outcome.evidence;
    if (now_us >= j->deadline_us) { /* first of all: reading the counters takes time */
        ev->hits |= LIMIT_BIT(LIMIT_WALL_MS);
        jar_kill(j, END_WALL);
    }
    note_counters(j);
    if (ev->reason != END_EXIT) {
        j->due_us = now_us + TICK_US;
        return;
    }
    if (ev->hits & LIMIT_BIT(LIMIT_MEMORY)) {
        jar_kill(j, END_MEMORY);
    } else if (ev->hits & LIMIT_BIT(LIMIT_CPU_MS)) {
        jar_kill(j, END_CPU);
    }
    j->due_us = ev->reason == END_EXIT ? next_look(j, now_us) : now_us + TICK_US;
}

/* The kernel's word on how the program ended, and what it and the children it waited for have used. */
static void reap_program(struct jar *j, uint64_t now_us)
{
    siginfo_t info = { 0 };
    struct rusage ru = { 0 };
    struct evidence *ev = &j->outcome.evidence;
    if (j->home[0])
        (void)kill(-j->program, SIGKILL); /* before it is reaped: its number is still its group's */
    if (syscall(SYS_waitid, P_PIDFD, j->program_pidfd, &info, WEXITED, &ru) < 0)
        return;
    j->program_reaped = true;
    if (info.si_code == CLD_EXITED)
        ev->exit_code = info.si_status;
    else
        ev->signal = info.si_status;
    if (j->started)
        j->outcome.usage.wall_us = now_us - j->started_us;
    if (!j->has_cgroup) {
        j->stats.cpu_us = (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 +
                          (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
        j->stats.memory_peak_bytes = (uint64_t)ru.ru_maxrss * 1024;
        j->stats.pids_peak = 1;
    }
    note_counters(j);
}

static void finish(struct jar *j)
{
    struct jar_outcome *o = &j->outcome;
    unsigned ours = j->home[0] ? 0 : 1; /* init is no process of the program's */
    o->usage.cpu_us = j->stats.cpu_us;
    o->usage.memory_peak_bytes = j->stats.memory_peak_bytes;
    o->usage.pids_peak = j->stats.pids_peak > ours ? j->stats.pids_peak - ours : 1;
    j->state = GONE;
    j->due_us = UINT64_MAX;
}

/* Reads the outputs, and at level process removes the files, as the jar's user: whatever the guest left there meets
 * a process that can do no more than the guest could. */
_Noreturn static void collector_main(struct jar *j)
{
    struct err e = { 0 };
    int keep = j->scratch_fd;
    const int stdio[3] = { j->outputs_fd, j->outputs_fd, j->outputs_fd };
    int failed = confine_default_signals(&e) || confine_fds(stdio, &keep, &e);
    if (!failed && j->has_uid &&
        (setresgid(j->uid, j->uid, j->uid) < 0 || setresuid(j->uid, j->uid, j->uid) < 0))
        failed = 1;
    failed = failed || confine_no_new_privs(&e) || (j->has_uid && confine_caps(0, &e)) ||
             seccomp_apply(SECCOMP_PROCESS, &e);
    autoclose int dir = failed ? -1
                               : openat(keep, j->home[0] ? "work" : "sandbox",
                                        O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0 && j->outputs[0] && j->started)
        failed |= files_collect(dir, j->outputs, 1, &e);
    if (!failed && j->home[0])
        failed = tree_remove(keep, "work", &e) || tree_remove(keep, "tmp", &e);
    _exit(failed ? 1 : 0);
}

static void collect(struct jar *j, uint64_t now_us)
{
    struct err e;
    bool wanted = j->started && j->outputs[0] && j->outcome.evidence.reason != END_FAILURE;
    if (j->scratch_fd < 0 || (!wanted && !j->home[0])) {
        finish(j);
        return;
    }
    pid_t pid = clone_process(0, -1, &j->collector_pidfd, &e);
    if (pid == 0)
        collector_main(j);
    fd_close(&j->outputs_fd);
    if (!j->home[0])
        fd_close(&j->scratch_fd); /* the collector holds the file system now, and lets go of it */
    if (pid < 0) {
        fail(j, &e);
        finish(j);
        return;
    }
    j->state = COLLECTING;
    j->due_us = now_us + COLLECT_US;
}

static void clear(struct jar *j, uint64_t now_us)
{
    send_kill(j);
    fd_close(&j->report_fd);
    /* Without outputs to read, the file system goes with the last process in it, not in our time. */
    if (!j->home[0] && !(j->started && j->outputs[0]))
        fd_close(&j->scratch_fd);
    j->state = CLEARING;
    j->due_us = j->init_pidfd >= 0 ? now_us + SETUP_US : now_us;
}

/* Level process: every orphan of the group has come to us; ECHILD says that none is left. */
static bool group_is_gone(struct jar *j)
{
    siginfo_t info;
    if (j->program <= 0)
        return true;
    while (waitid(P_PGID, (id_t)j->program, &info, WEXITED | WNOHANG) == 0)
        if (info.si_pid == 0)
            return false;
        else
            info.si_pid = 0;
    return errno == ECHILD;
}

static void cleared(struct jar *j, uint64_t now_us)
{
    if (j->init_pidfd >= 0) {
        wait_for(j->init_pidfd); /* and with it everything in its pid namespace, the program too */
        if (!j->program_reaped)
            wait_for(j->program_pidfd);
        j->program_reaped = true;
    } else if (!group_is_gone(j)) {
        j->due_us = now_us + REAP_US;
        return;
    }
    collect(j, now_us);
}

/* 1 when the other side closed without a word, 0 when it reported, with *ret filled in. */
static int read_report(struct jar *j, struct err *ret)
{
    ssize_t n = fd_read_full(j->report_fd, ret, sizeof *ret);
    if (n == 0)
        return 1;
    if (n != sizeof *ret)
        (void)err_set(ret, ERR_KERNEL, n < 0 ? errno : 0,
                      "a process of the jar died while starting");
    ret->text[sizeof ret->text - 1] = '\0';
    return 0;
}

static void init_reported(struct jar *j, uint64_t now_us)
{
    struct err e = { 0 };
    if (read_report(j, &e))
        (void)err_set(&e, ERR_KERNEL, 0, "the jar's init died while building it");
    if (j->outcome.evidence.reason != END_EXIT || e.code != ERR_NONE || start_program(j, &e)) {
        if (j->outcome.evidence.reason == END_EXIT)
            fail(j, &e);
        clear(j, now_us);
    }
}

static void program_reported(struct jar *j, uint64_t now_us)
{
    struct err e = { 0 };
    if (read_report(j, &e) == 0) {
        fail(j, &e);
        send_kill(j);
    }
    fd_close(&j->report_fd);
    j->started = e.code == ERR_NONE;
    j->started_us = now_us;
    j->deadline_us = now_us + j->limits.v[LIMIT_WALL_MS] * 1000;
    j->state = RUNNING;
    j->due_us = next_look(j, now_us);
}

static bool is_readable(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    return fd >= 0 && poll(&p, 1, 0) > 0;
}

void jar_advance(struct jar *j, uint64_t now_us)
{
    static const char *const late[] = {
        [BUILDING] = "the jar was not built in time",
        [STARTING] = "the program did not start in time",
    };
    bool ready = is_readable(jar_fd(j));
    if (!ready && now_us < j->due_us)
        return;
    struct err e = { 0 };
    switch (j->state) {
    case BUILDING:
    case STARTING:
        if (!ready) {
            (void)err_set(&e, ERR_KERNEL, 0, "%s", late[j->state]);
            fail(j, &e);
            clear(j, now_us);
        } else if (j->state == BUILDING) {
            init_reported(j, now_us);
        } else {
            program_reported(j, now_us);
        }
        break;
    case RUNNING:
        if (!ready) {
            tick(j, now_us);
            break;
        }
        reap_program(j, now_us);
        clear(j, now_us);
        break;
    case CLEARING:
        cleared(j, now_us);
        break;
    case COLLECTING:
        if (!ready)
            (void)pidfd_send_signal(j->collector_pidfd, SIGKILL, NULL, 0);
        wait_for(j->collector_pidfd);
        finish(j);
        break;
    case GONE:
        break;
    }
}

int jar_fd(const struct jar *j)
{
    const int fds[] = {
        [BUILDING] = j->report_fd,  [STARTING] = j->report_fd,         [RUNNING] = j->program_pidfd,
        [CLEARING] = j->init_pidfd, [COLLECTING] = j->collector_pidfd, [GONE] = -1,
    };
    return fds[j->state];
}

uint64_t jar_due_us(const struct jar *j)
{
    return j->due_us;
}

bool jar_started(const struct jar *j)
{
    return j->started;
}

bool jar_gone(const struct jar *j)
{
    return j->state == GONE;
}

const struct jar_outcome *jar_outcome(const struct jar *j)
{
    return &j->outcome;
}

/* The one place that waits: only for processes that are already dying. */
static void put_down(struct jar *j)
{
    send_kill(j);
    if (!j->program_reaped)
        wait_for(j->program_pidfd);
    j->program_reaped = true;
    wait_for(j->init_pidfd);
    while (j->init_pidfd < 0 && j->home[0] && !group_is_gone(j))
        (void)usleep(REAP_US);
    wait_for(j->collector_pidfd);
}

void jar_free(struct jar *j)
{
    if (!j)
        return;
    if (j->state != GONE)
        put_down(j);
    if (j->home[0] && rmdir(j->home) < 0) { /* the collector did not get to it */
        struct err ignored;
        (void)!tree_remove(j->scratch_fd, "work", &ignored);
        (void)!tree_remove(j->scratch_fd, "tmp", &ignored);
        (void)rmdir(j->home);
    }
    close_job_fds(j);
    fd_close(&j->outputs_fd);
    fd_close(&j->scratch_fd);
    fd_close(&j->init_pidfd);
    fd_close(&j->program_pidfd);
    fd_close(&j->collector_pidfd);
    fd_close(&j->report_fd);
    if (j->has_cgroup)
        for (int tries = 0; tries < 100 && cgroup_remove(&j->cgroup) < 0; tries++)
            (void)usleep(REAP_US);
    if (j->has_uid)
        uids_give_back(&j->host->uids, j->uid);
    free_strv(j->argv);
    free_strv(j->envp);
    free_strv(j->outputs);
    free(j);
}

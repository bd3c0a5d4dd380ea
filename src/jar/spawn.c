/* Starts a jar: checks its job, builds it, and starts its init and program. Runs in: warden. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/strv.h"
#include "base/text.h"
#include "jar/as_owner.h"
#include "jar/clone.h"
#include "jar/embryo_job.h"
#include "jar/inside.h"
#include "jar/jar_impl.h"
#include "jar/netns.h"
#include "jar/root.h"
#include "spec/bundle.h"
#include "spec/listed.h"
#include "spec/mount.h"

void jar_release_job(struct jar *j)
{
    for (int i = 0; i < SESSION_FDS; i++)
        if (i != JOB_FD_OUTPUTS) /* the collector needs it */
            fd_close(&j->fds[i]);
    job_spec_wipe(&j->job);
}

/* Decided when the jar is built, of an idle one by the kind of its embryo (ROOT-4). */
static bool has_terminals(const struct jar *j)
{
    return j->host->terminals && (j->source ? j->source->terminals : jar_is_session(j));
}

static struct inside inside_of(const struct jar *j, int report_fd)
{
    return (struct inside){
        .iso = &j->host->isolation,
        .job = &j->job,
        .cgroup = j->has_cgroup ? &j->cgroup : NULL,
        .report_fd = report_fd,
        .bundle_fd = j->fds[JOB_FD_BUNDLE],
        .go_fd = -1,
        .scratch_fd = j->scratch_fd,
        .new_net = j->new_net,
        .terminals = has_terminals(j),
        .mount_roots = j->host->mount_roots,
        .init_pidfd = j->init_pidfd,
        .owner = j->host->zygote_uid,
        .slate_fd = j->slate_fd,
        .stdio = j->fds,
        .channel_fd = j->jobs_before > 0 ? j->fds[JOB_FD_BUNDLE] : j->fds[JOB_FD_CHANNEL],
        .unpacks = j->jobs_before > 0,
        .home = j->home,
        .guest = j->host->guest_dir[0] ? j->host->guest_dir : NULL,
        .dirs = &j->host->dirs,
        .uid = j->uid,
    };
}

/* A new pipe for reports. Our end does not block; the next process inherits the other. */
static int open_report(struct jar *j, int *ret_write_fd, struct err *e)
{
    int ends[2];
    if (fd_pipe(ends, e))
        return -1;
    fd_close(&j->report_fd);
    j->report_fd = ends[0];
    j->report_closed = false;
    *ret_write_fd = ends[1];
    return fd_set_nonblock(ends[0], e);
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

/* Keeps a descriptor, so that a later jar can use the namespace again. */
static void keep_net(struct jar *j, pid_t init)
{
    char path[48];
    (void)snprintf(path, sizeof path, "%d/ns/net", (int)init);
    j->net_fd = openat(j->host->proc_fd, path, O_RDONLY | O_CLOEXEC);
}

/* The user of the zygotes owns the namespaces. So a zygote, which has no capability, has every right in
 * a jar and nowhere else. */
static pid_t clone_as_owner(struct jar *j, struct err *e)
{
    struct jar_host *h = j->host;
    uint64_t all = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
    int cgroup_fd = j->has_cgroup ? cgroup_clone_fd(&j->cgroup) : -1;
    if (j->new_net)
        all |= CLONE_NEWNET;
    pid_t init = as_owner_clone(h, all, cgroup_fd, &j->init_pidfd, e);
    if (init <= 0)
        return init;
    j->init = init;
    if (j->new_net)
        keep_net(j, init);
    if (map_users(j, init, e))
        init = -1; /* jar_free() ends it by its pidfd */
    as_owner_end(h);
    return init;
}

/* Uses a spare network namespace if there is one. */
static pid_t clone_init(struct jar *j, struct err *e)
{
    struct jar_host *h = j->host;
    j->net_fd = spares_enter_net(&h->spares, h->own_net_fd);
    j->new_net = j->net_fd < 0;
    pid_t init = clone_as_owner(j, e);
    if (init != 0 && !j->new_net)
        netns_return(h->own_net_fd);
    return init;
}

static int start_init(struct jar *j, struct err *e)
{
    int go[2];
    autoclose int report = -1;
    if (open_report(j, &report, e) || fd_pipe(go, e))
        return -1;
    autoclose int go_read = go[0], go_write = go[1];
    const uint64_t *limits = j->job.limits.v;
    if (root_scratch_new(limits[LIMIT_DISK], limits[LIMIT_FILES], j->job.flags & JOB_WRITABLE_ROOT,
                         j->job.flags & JOB_LISTED, j->uid, &j->scratch_fd, e))
        return -1;
    pid_t init = clone_init(j, e);
    if (init < 0)
        return -1;
    if (init == 0) {
        (void)close(go_write); /* otherwise we would wait for ourselves if the warden dies */
        struct inside in = inside_of(j, report);
        in.go_fd = go_read;
        init_main(&in);
    }
    /* Init only sleeps, but when it is killed, everything waits until it runs. May fail: not every
     * warden has the right. */
    (void)setpriority(PRIO_PROCESS, (id_t)init, -20);
    if (fd_write_all(go_write, "", 1))
        return err_set(e, ERR_KERNEL, errno, "tell init to go on");
    j->state = BUILDING;
    return 0;
}

/* The program is in the jar's pid namespace from the start: setns moves our next child, and is
 * undone right after. */
static pid_t clone_program(struct jar *j, struct err *e)
{
    int cgroup_fd = j->has_cgroup ? cgroup_clone_fd(&j->cgroup) : -1;
    /* A host that forbids namespaces often forbids clone3 too: a plain fork, which joins by
     * itself. */
    if (jar_on_host(j))
        return clone_process(0, -1, &j->program_pidfd, e);
    if (as_owner_setns(j->host, j->init_pidfd, CLONE_NEWPID) < 0)
        return err_set(e, ERR_KERNEL, errno, "enter the jar's pid namespace");
    pid_t pid = clone_process(0, cgroup_fd, &j->program_pidfd, e);
    if (pid != 0 && setns(j->host->own_pid_ns_fd, CLONE_NEWPID) < 0)
        abort(); /* our next child would be in this jar: such a warden must not go on */
    return pid;
}

/* The time that the jar has used until now is not the job's. */
static void begin_hand_over(struct jar *j)
{
    struct cgroup_stats before = { 0 };
    if (j->has_cgroup)
        cgroup_read_cpu(&j->cgroup, &before);
    j->cpu_before_us = before.cpu_us;
    j->handed_over_us = clock_us();
}

/* A session outlives a process of it that needed too much memory. */
static void begin_session(struct jar *j)
{
    if (jar_is_session(j) && j->has_cgroup)
        cgroup_kill_one(&j->cgroup);
}

int jar_start_program(struct jar *j, struct err *e)
{
    autoclose int report = -1;
    if (open_report(j, &report, e))
        return -1;
    begin_hand_over(j);
    j->program = clone_program(j, e);
    if (j->program < 0)
        return -1;
    if (j->program == 0) {
        struct inside in = inside_of(j, report);
        program_main(&in);
    }
    begin_session(j);
    jar_release_job(j);
    j->state = STARTING;
    return 0;
}

int jar_request_embryo(struct jar *j, struct err *e)
{
    int ends[2];
    autoclose int report = -1;
    if (open_report(j, &report, e) || jar_make_slate(j, e))
        return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a socket for a job");
    j->job_fd = ends[0];
    autoclose int theirs = ends[1];
    struct inside in = inside_of(j, report);
    if (j->source->fork_embryo(j->source, &in, theirs, e))
        return -1;
    j->state = FORKING;
    return 0;
}

/* A zygote reported a pid. We accept it only if it is a child of ours: then no other process can
 * have this pid until we have reaped it. */
int jar_adopt_embryo(struct jar *j, pid_t pid, struct err *e)
{
    siginfo_t info = { 0 };
    autoclose int pidfd = pid > 0 && j->program_pidfd < 0 ? pidfd_open(pid, 0) : -1;
    if (pidfd < 0 || waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return err_set(e, ERR_PROTOCOL, 0,
                       "a zygote reported a pid that is not a child of the warden");
    j->program = pid;
    j->program_pidfd = fd_take(&pidfd);
    j->has_slate = j->slate_fd >= 0;
    return 0;
}

int jar_send_job(struct jar *j, struct err *e)
{
    if (j->unpacked)
        fd_close(&j->fds[JOB_FD_BUNDLE]);
    begin_hand_over(j);
    if (embryo_job_send(j->job_fd, &j->job, j->fds, e))
        return -1;
    /* The embryo prepares the job meanwhile, on another CPU. */
    if (j->job.flags & JOB_NETWORK && jar_release_embryo(j, e))
        return -1;
    fd_close(&j->job_fd);
    begin_session(j);
    jar_release_job(j);
    j->state = STARTING;
    return 0;
}

/* Level process: a private directory on the host, owned by the uid of the program. */
static int make_home(struct jar *j, struct err *e)
{
    (void)snprintf(j->home, sizeof j->home, "%s/" JAR_HOME_PREFIX "XXXXXX", j->host->temp_dir,
                   (int)getppid());
    if (!mkdtemp(j->home)) {
        j->home[0] = '\0';
        return err_set(e, ERR_KERNEL, errno, "make a directory in %s", j->host->temp_dir);
    }
    j->scratch_fd = open(j->home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (j->scratch_fd < 0 || (j->has_uid && fchown(j->scratch_fd, j->uid, j->uid) < 0))
        return err_set(e, ERR_KERNEL, errno, "prepare %s", j->home);
    return 0;
}

/* An anonymous pipe with this access mode: a FIFO with a name is a file of the host. */
bool jar_is_pipe(int fd, int access_mode)
{
    struct statfs fs;
    int flags = fcntl(fd, F_GETFL);
    return fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC && flags >= 0 &&
           (flags & (O_ACCMODE | O_PATH)) == access_mode;
}

/* One end of a pair of sockets without a name: it leads to no service of the host. */
bool jar_is_channel(int fd)
{
    int domain = 0, type = 0;
    struct sockaddr_un names[2];
    socklen_t len = sizeof domain, lens[2] = { sizeof names[0], sizeof names[1] };
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET &&
           getsockname(fd, (struct sockaddr *)&names[0], &lens[0]) == 0 &&
           getpeername(fd, (struct sockaddr *)&names[1], &lens[1]) == 0 &&
           lens[0] == sizeof(sa_family_t) && lens[1] == sizeof(sa_family_t);
}

int jar_check_ends(const int fds[JAR_ENDS], struct err *e)
{
    return jar_is_pipe(fds[0], O_RDONLY) && jar_is_pipe(fds[1], O_RDONLY) && jar_is_channel(fds[2])
               ? 0
               : err_set(e, ERR_PROTOCOL, 0, "these are not the ends of pipes and a channel");
}

/* Only pipes, one sealed file and the channel of a session go into a jar: no descriptor leads to
 * the host's files, and the bundle cannot change while it is read. */
static int check_fds(const struct jar *j, struct err *e)
{
    const int sealed = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
    int seals = fcntl(j->fds[JOB_FD_BUNDLE], F_GET_SEALS);
    if (seals < 0 || (seals & sealed) != sealed)
        return err_set(e, ERR_PROTOCOL, 0, "the bundle of files is not sealed");
    if (!jar_is_pipe(j->fds[JOB_FD_OUTPUTS], O_WRONLY))
        return err_set(e, ERR_PROTOCOL, 0, "the outputs' descriptor is not a pipe");
    if (job_is_session(&j->job) && !jar_is_channel(j->fds[JOB_FD_CHANNEL]))
        return err_set(e, ERR_PROTOCOL, 0, "the channel of the session is not a pair of sockets");
    for (int i = 0; i < 3; i++)
        if (!jar_is_pipe(j->fds[i], i == 0 ? O_RDONLY : O_WRONLY))
            return err_set(e, ERR_PROTOCOL, 0, "standard descriptor %d is not a pipe", i);
    return 0;
}

/* Landlock enforces a list, and a root of the jar's own keeps code out of writable places: a list
 * needs both. */
static int check_list(const struct jar *j, const struct job_spec *job, struct err *e)
{
    bool lists = (job->executes && job->executes[0]) || (job->reads && job->reads[0]);
    if (!(job->flags & JOB_LISTED))
        return lists || job->flags & JOB_OWN_CODE
                   ? err_set(e, ERR_BAD_REQUEST, 0,
                             "files are listed for a job without a list of commands")
                   : 0;
    if (jar_on_host(j) || job->flags & JOB_WRITABLE_ROOT ||
        !(j->host->isolation.layers & LAYER_BIT(LAYER_LANDLOCK)))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "a list of commands needs level jar or rootless, Landlock, and a read-only "
                       "root");
    return listed_check(job->executes, job->reads, e);
}

/* At level process /tmp is the host's, and the program cannot write there. */
static int check_outputs(const struct jar *j, const struct job_spec *job, struct err *e)
{
    for (char *const *name = job->outputs; jar_on_host(j) && name && *name; name++)
        if (output_is_in_tmp(*name))
            return err_set(
                e, ERR_BAD_REQUEST, 0,
                "the output '%s' needs level jar or rootless: at level process a program "
                "has no /tmp of its own; write the file to its directory",
                QUOTED(*name));
    return 0;
}

static int check_job(const struct jar *j, const struct job_spec *job, struct err *e)
{
    /* At level process only the warden knows the directory of the job's own files: hence "./". */
    const char *program = job->argv ? job->argv[0] : NULL;
    if (!program || (program[0] != '/' && strncmp(program, "./", 2) != 0))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the program's path must be absolute, or begin with ./");
    if (job->flags & JOB_WRITABLE_ROOT && jar_on_host(j))
        return err_set(e, ERR_BAD_REQUEST, 0, "a writable root needs level jar or rootless");
    if (mount_count(job->mounts) > 0 && jar_on_host(j))
        return err_set(e, ERR_BAD_REQUEST, 0, "a mount needs level jar or rootless");
    if (mounts_check(job->mounts, j->host->mount_roots ? strv_len(j->host->mount_roots) : 0, e))
        return -1;
    if (job_is_session(job) && jar_on_host(j))
        return err_set(e, ERR_BAD_REQUEST, 0, "a session needs level jar or rootless");
    struct limits most = j->host->most;
    if (job_is_session(job)) /* its life; a cell is held to the wall time of a run */
        most.v[LIMIT_WALL_MS] = limit_defs[LIMIT_WALL_MS].max;
    return limits_check(&job->limits, e) || limits_within(&job->limits, &most, e) ||
                   check_outputs(j, job, e) || check_list(j, job, e)
               ? -1
               : 0;
}

static int copy_job(struct jar *j, const struct job_spec *job, const int fds[SESSION_FDS],
                    struct err *e)
{
    if (check_job(j, job, e) || job_spec_copy(job, &j->job, e))
        return -1;
    if (job->flags & JOB_SAMPLED && !(j->samples = calloc(1, sizeof *j->samples)))
        return err_no_memory(e, "a jar");
    for (int i = 0; i < (job_is_session(job) ? SESSION_FDS : JOB_FDS); i++) {
        j->fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
        if (j->fds[i] < 0)
            return err_set(e, ERR_KERNEL, errno, "duplicate a descriptor");
    }
    return check_fds(j, e) || jar_take_network(j, job, e) ? -1 : 0;
}

static int take_cgroup(struct jar *j, uint64_t number, struct err *e)
{
    unsigned ours = jar_on_host(j) ? 0 : 1;
    if (!spares_take_cgroup(&j->host->spares, &j->host->reclaimer, &j->job.limits, ours,
                            &j->cgroup) &&
        cgroup_new(j->host->cgroups, number, &j->job.limits, ours, &j->cgroup, e))
        return -1;
    j->has_cgroup = true;
    if (j->idle && j->source && j->source->heavy)
        cgroup_yield(&j->cgroup, true);
    return 0;
}

int jar_build(struct jar *j, const struct job_spec *job, const int *fds, struct err *e)
{
    struct jar_host *h = j->host;
    uint64_t number = h->next_number++;
    if (limits_check(&j->job.limits, e))
        return -1;
    if (h->uids.lock_fd >= 0) {
        if (uids_take(&h->uids, &j->uid, e))
            return -1;
        j->has_uid = true;
    } else {
        j->uid =
            geteuid(); /* 0 in our own user namespace, which is the uid of the caller outside */
    }
    if (job && copy_job(j, job, fds, e))
        return -1;
    j->unpacked = job != NULL; /* init does it */
    if (h->cgroups && take_cgroup(j, number, e))
        return -1;
    if (!jar_on_host(j))
        return start_init(j, e);
    return make_home(j, e) ? -1 : jar_start_program(j, e);
}

int jar_accept_job(struct jar *j, const struct job_spec *job, const int fds[SESSION_FDS],
                   struct err *e)
{
    const uint64_t *now = j->job.limits.v, *new = job->limits.v;
    bool resize = now[LIMIT_DISK] != new[LIMIT_DISK] || now[LIMIT_FILES] != new[LIMIT_FILES];
    if (job->flags & (JOB_WRITABLE_ROOT | JOB_LISTED) || mount_count(job->mounts) > 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "an embryo cannot have a writable root, a list of commands or mounts");
    if ((job->flags ^ j->job.flags) & JOB_NO_SOCKETS)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "this embryo runs jobs %s sockets, and none of the other kind",
                       j->job.flags & JOB_NO_SOCKETS ? "without" : "with");
    if (copy_job(j, job, fds, e))
        return -1;
    if (resize && root_scratch_resize(j->scratch_fd, new[LIMIT_DISK], new[LIMIT_FILES], e))
        return -1;
    if (j->has_cgroup && cgroup_set_limits(&j->cgroup, &job->limits, 1, e))
        return -1;
    j->idle = false;
    if (j->host->may_renice) /* it was forked with a low priority */
        (void)setpriority(PRIO_PROCESS, (id_t)j->program, 0);
    if (j->has_cgroup)
        cgroup_yield(&j->cgroup, false);
    return jar_hand_over(j, e);
}

/* The files of earlier jobs are memory of the jar. If they leave no room, the job reaches its limit
 * before it starts. */
static bool has_room(struct jar *j, const struct limits *limits)
{
    enum { FOR_A_START = 1 << 20 };
    uint64_t memory = 0, pids = 0;
    if (j->has_cgroup)
        cgroup_read_now(&j->cgroup, &memory, &pids);
    return memory + FOR_A_START <= limits->v[LIMIT_MEMORY];
}

int jar_accept_next(struct jar *j, const struct job_spec *job, const int fds[SESSION_FDS],
                    struct err *e)
{
    const uint64_t *now = j->job.limits.v, *new = job->limits.v;
    if ((job->flags ^ j->job.flags) & (JOB_WRITABLE_ROOT | JOB_LISTED) ||
        job->flags & (JOB_SESSION | JOB_NETWORK) || mount_count(job->mounts) > 0 ||
        now[LIMIT_DISK] != new[LIMIT_DISK] || now[LIMIT_FILES] != new[LIMIT_FILES])
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "the next job of a jar has the root, the disk, the network and the mounts of "
            "the first");
    job_spec_done(&j->job);
    if (copy_job(j, job, fds, e))
        return -1;
    if (!has_room(j, &job->limits)) {
        jar_release_job(j);
        j->outcome.evidence.hits |= LIMIT_BIT(LIMIT_MEMORY);
        jar_kill(j, END_MEMORY);
        return 0;
    }
    if (j->has_cgroup && cgroup_set_limits(&j->cgroup, &job->limits, 1, e))
        return -1;
    return jar_start_program(j, e);
}

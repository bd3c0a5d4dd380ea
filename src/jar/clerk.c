/* The clerks of a jar: short-lived processes that read and write its files while it runs. A clerk
 * has no more rights than the guest: the jar's own uid, no capability, the filter of a guest without
 * sockets. It is in the jar's cgroup, so that its memory and its files count there. It is in none of
 * the jar's namespaces: a guest cannot see it, and so cannot stop, trace or kill it.
 * Runs in: warden, and the clerk. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/text.h"
#include "jar/clone.h"
#include "jar/jar_impl.h"
#include "jar/live_files.h"
#include "spec/bundle.h"

enum {
    CLERK_US = 10 * 1000000, /* the longest life of a clerk */
    MEMORY_LEFT = 1 << 20,   /* for the clerk itself */
};

/* If memory runs out, a clerk dies no later than a guest. */
static int join_jar(const struct jar *j, struct err *e)
{
    if (j->has_cgroup && (cgroup_join(&j->cgroup, false, e) || cgroup_join_cpu(&j->cgroup, e)))
        return -1;
    return fd_write_file(AT_FDCWD, "/proc/self/oom_score_adj", "1000", e);
}

/* The bytes of a file are memory of the jar. Without room for them the kernel would kill the largest
 * process of the jar, which is the program of the session. */
static bool has_memory(struct jar *j, enum live_file_operation operation, int body_fd)
{
    struct stat st;
    uint64_t used = 0, pids;
    if (operation != LIVE_WRITE || !j->has_cgroup || fstat(body_fd, &st) < 0)
        return true;
    cgroup_read_now(&j->cgroup, &used, &pids);
    return used + (uint64_t)st.st_size + MEMORY_LEFT <= j->job.limits.v[LIMIT_MEMORY];
}

_Noreturn static void clerk_main(struct jar *j, enum live_file_operation operation,
                                 const char *path, const int fds[FILES_FDS])
{
    struct err e = { 0 };
    const int stdio[3] = { fds[FILES_FD_BODY], fds[FILES_FD_ANSWER], fds[FILES_FD_ANSWER] };
    int keep = j->scratch_fd;
    (void)prctl(PR_SET_NAME, "jar-clerk", 0, 0, 0);
    bool fits = has_memory(j, operation, fds[FILES_FD_BODY]);
    if (join_jar(j, &e) || jar_confine_beside(j, stdio, &keep, &e))
        _exit(1);
    if (!fits)
        _exit(live_files_refuse(LIVE_NO_MEMORY, 1, &e) != 0);
    autoclose int dir = openat(keep, "sandbox", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    _exit(dir < 0 || live_files_do(dir, operation, path, 0, 1, &e));
}

static int check_request(enum live_file_operation operation, const char *path,
                         const int fds[FILES_FDS], struct err *e)
{
    const int sealed = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
    struct stat st;
    bool writes = operation == LIVE_WRITE;
    int seals = fcntl(fds[FILES_FD_BODY], F_GET_SEALS);
    if (!(operation == LIVE_LIST && path[0] == '\0') && bundle_name_check(path, strlen(path), e))
        return err_set(e, ERR_PROTOCOL, 0, "'%s' is no name inside /sandbox", QUOTED(path));
    if (!jar_is_pipe(fds[FILES_FD_ANSWER], O_WRONLY))
        return err_set(e, ERR_PROTOCOL, 0, "the answer's descriptor is not a pipe");
    if (writes && (seals < 0 || (seals & sealed) != sealed || fstat(fds[FILES_FD_BODY], &st) < 0 ||
                   st.st_size > LIVE_FILE_BYTES_MAX))
        return err_set(e, ERR_PROTOCOL, 0, "the bytes of the file are not sealed, or too many");
    if (!writes && !jar_is_pipe(fds[FILES_FD_BODY], O_WRONLY))
        return err_set(e, ERR_PROTOCOL, 0, "bytes came with a request that writes no file");
    return 0;
}

int jar_start_clerk(struct jar *j, enum live_file_operation operation, const char *path,
                    const int fds[FILES_FDS], int *ret_pidfd, struct err *e)
{
    struct clerk *free_place = NULL;
    struct err ignored;
    *ret_pidfd = -1;
    if (check_request(operation, path, fds, e))
        return -1;
    if (!jar_is_session(j))
        return err_set(e, ERR_PROTOCOL, 0, "this job is no session");
    jar_check_clerks(j, clock_us()); /* some may have ended */
    for (int i = 0; i < CLERKS_MAX; i++)
        if (j->clerks[i].pid == 0)
            free_place = &j->clerks[i];
    if (!free_place || j->state != RUNNING || j->outcome.evidence.reason != END_EXIT ||
        j->scratch_fd < 0)
        return 0; /* the pipe ends without an answer */
    int pidfd = -1;
    pid_t pid = clone_process(0, -1, &pidfd, &ignored);
    if (pid == 0)
        clerk_main(j, operation, path, fds);
    if (pid < 0)
        return 0;
    *free_place = (struct clerk){ .pid = pid, .pidfd = pidfd, .due_us = clock_us() + CLERK_US };
    *ret_pidfd = pidfd;
    return 0;
}

static void reap_clerk(struct clerk *c, int flags)
{
    siginfo_t info = { 0 };
    if (waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED | flags) == 0 && info.si_pid == 0)
        return; /* it still runs */
    fd_close(&c->pidfd);
    *c = (struct clerk){ 0 };
}

void jar_check_clerks(struct jar *j, uint64_t now_us)
{
    for (int i = 0; i < CLERKS_MAX; i++) {
        struct clerk *c = &j->clerks[i];
        if (c->pid == 0)
            continue;
        if (now_us >= c->due_us) {
            (void)pidfd_send_signal(c->pidfd, SIGKILL, NULL, 0);
            c->due_us = now_us + CLERK_US;
        }
        reap_clerk(c, WNOHANG);
    }
}

uint64_t jar_clerks_due_us(const struct jar *j)
{
    uint64_t due = UINT64_MAX;
    for (int i = 0; i < CLERKS_MAX; i++)
        if (j->clerks[i].pid != 0 && j->clerks[i].due_us < due)
            due = j->clerks[i].due_us;
    return due;
}

void jar_end_clerks(struct jar *j)
{
    for (int i = 0; i < CLERKS_MAX; i++)
        if (j->clerks[i].pid != 0)
            (void)pidfd_send_signal(j->clerks[i].pidfd, SIGKILL, NULL, 0);
    for (int i = 0; i < CLERKS_MAX; i++)
        if (j->clerks[i].pid != 0)
            reap_clerk(&j->clerks[i], 0);
}

bool jar_has_clerk(const struct jar *j, pid_t pid)
{
    for (int i = 0; i < CLERKS_MAX; i++)
        if (j->clerks[i].pid == pid && pid != 0)
            return true;
    return false;
}

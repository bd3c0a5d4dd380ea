/* Starts, asks and ends one zygote. Runs in: warden. */
#include "zygote/zygote.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "jar/clone.h"
#include "jar/inside.h"
#include "zygote/request.h"
#include "zygote/zygote_boot.h"

/* No run waits for a spare embryo: the runs go first. */
enum { REFILL_NICE = 10 };

static int fork_embryo(struct embryo_source *source, const struct inside *in, int job_fd,
                       struct err *e)
{
    struct zygote *z = (struct zygote *)source;
    const struct cgroup *c = in->cgroup;
    struct zygote_request r = { .isolation = *in->iso,
                                .limits = in->job->limits,
                                .cgroup_version = c ? c->host->version : 0,
                                .cgroup_slots = c ? c->host->slots : 0,
                                .slate = in->slate_fd >= 0,
                                .flags = source->no_sockets ? JOB_NO_SOCKETS : 0,
                                .nice = in->job->argv || !z->may_renice ? 0 : REFILL_NICE };
    int fds[REQUEST_FDS_MAX] = { in->init_pidfd, in->report_fd, job_fd };
    size_t n = REQUEST_FD_CGROUP;
    for (int i = 0; i < r.cgroup_slots; i++)
        fds[n++] = c->join_fd[i];
    if (r.slate)
        fds[n++] = in->slate_fd;
    struct iovec iov = { &r, sizeof r };
    if (fd_send(z->fd, &iov, 1, fds, n, MSG_DONTWAIT) < 0)
        return err_set(e, ERR_UNAVAILABLE, errno, "ask a zygote for an embryo");
    z->forks++;
    ++*z->all_forks;
    return 0;
}

int zygote_start(struct jar_host *h, const struct zygote_files *files, uint64_t *all_forks,
                 struct zygote **ret, struct err *e)
{
    int ends[2];
    if (files->err.code != ERR_NONE) {
        *e = files->err;
        return -1;
    }
    struct zygote *z = calloc(1, sizeof *z);
    if (!z)
        return err_no_memory(e, "a zygote");
    *z = (struct zygote){ .source = { .fork_embryo = fork_embryo,
                                      .heavy = files->def->heavy,
                                      .no_sockets = files->def->no_sockets,
                                      .terminals = files->def->terminals,
                                      .tells = files->def->tells },
                          .pidfd = -1,
                          .fd = -1,
                          .may_renice = h->may_renice,
                          .all_forks = all_forks,
                          .born_us = clock_us() };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        (void)!err_set(e, ERR_KERNEL, errno, "make a socket for a zygote");
        zygote_free(z);
        return -1;
    }
    z->fd = ends[0];
    autoclose int theirs = ends[1];
    z->pid = clone_process(0, -1, &z->pidfd, e);
    if (z->pid == 0)
        zygote_boot(h, files, theirs);
    if (z->pid < 0) {
        zygote_free(z);
        return -1;
    }
    *ret = z;
    return 0;
}

int zygote_check(struct zygote *z, struct err *e)
{
    for (;;) {
        struct zygote_hello hello;
        ssize_t n = recv(z->fd, &hello, sizeof hello, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n != (ssize_t)sizeof hello || z->up)
            return err_set(e, ERR_UNAVAILABLE, 0, "the zygote died");
        hello.err.text[sizeof hello.err.text - 1] = '\0';
        if (hello.err.code != ERR_NONE) {
            *e = hello.err;
            return -1;
        }
        z->up = true;
    }
}

bool zygote_end(struct zygote *z)
{
    siginfo_t info = { 0 };
    if (z->fd >= 0) {
        fd_close(&z->fd);
        (void)pidfd_send_signal(z->pidfd, SIGKILL, NULL, 0);
    }
    return waitid(P_PIDFD, (id_t)z->pidfd, &info, WEXITED | WNOHANG) < 0 || info.si_pid != 0;
}

void zygote_kill(struct zygote *z)
{
    siginfo_t info;
    fd_close(&z->fd);
    if (z->pidfd >= 0) {
        (void)pidfd_send_signal(z->pidfd, SIGKILL, NULL, 0);
        (void)waitid(P_PIDFD, (id_t)z->pidfd, &info,
                     WEXITED); /* ECHILD if zygote_end() has reaped it */
    }
    fd_close(&z->pidfd);
}

void zygote_free(struct zygote *z)
{
    if (!z)
        return;
    zygote_kill(z);
    free(z);
}

#include "jar/embryo_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fdio.h"
#include "base/pack.h"

enum { STRINGS_MAX = 8192 };

/* The descriptors of a message, as indexes into those of a job. Returns their number. */
static size_t list_fds(bool bundle, bool session, int ret[EMBRYO_JOB_FDS])
{
    size_t n = 0;
    for (int i = JOB_FD_STDIN; i <= JOB_FD_STDERR; i++)
        ret[n++] = i;
    if (bundle)
        ret[n++] = JOB_FD_BUNDLE;
    if (session)
        ret[n++] = JOB_FD_CHANNEL;
    return n;
}

int embryo_job_send(int fd, const struct job_spec *job, const int fds[SESSION_FDS], struct err *e)
{
    char bytes[EMBRYO_JOB_MAX_BYTES];
    struct packer p = { .at = bytes, .left = sizeof bytes };
    int which[EMBRYO_JOB_FDS], sent_fds[EMBRYO_JOB_FDS];
    bool bundle = fds[JOB_FD_BUNDLE] >= 0;
    size_t n = list_fds(bundle, job_is_session(job), which);
    for (size_t i = 0; i < n; i++)
        sent_fds[i] = fds[which[i]];
    pack_u32(&p, job->flags);
    pack_u32(&p, bundle);
    for (int i = 0; i < LIMIT_COUNT; i++)
        pack_u64(&p, job->limits.v[i]);
    pack_strv(&p, job->argv);
    pack_strv(&p, job->envp);
    if (p.failed) {
        explicit_bzero(bytes, sizeof bytes);
        return err_set(e, ERR_TOO_LARGE, 0, "the arguments and environment are too large");
    }
    struct iovec iov = { bytes, sizeof bytes - p.left };
    ssize_t sent = fd_send(fd, &iov, 1, sent_fds, n, MSG_DONTWAIT);
    explicit_bzero(bytes, iov.iov_len); /* every jar begins as a copy of this process */
    if (sent < 0)
        return err_set(e, ERR_KERNEL, errno, "send a job to an embryo");
    return 0;
}

int embryo_job_release(int fd, struct err *e)
{
    const char go = 'g';
    if (send(fd, &go, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
        return err_set(e, ERR_KERNEL, errno, "let an embryo go on");
    return 0;
}

bool embryo_job_await_release(int fd)
{
    char go;
    ssize_t n;
    do
        n = recv(fd, &go, 1, 0);
    while (n < 0 && errno == EINTR);
    return n == 1 && go == 'g';
}

int embryo_job_receive(int fd, char bytes[EMBRYO_JOB_MAX_BYTES], struct job_spec *ret,
                       int ret_fds[SESSION_FDS], struct err *e)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(EMBRYO_JOB_FDS * sizeof(int))];
    } control;
    struct iovec iov = { bytes, EMBRYO_JOB_MAX_BYTES };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n;
    do
        n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(e, ERR_KERNEL, errno, "wait for a job");
    if (n == 0)
        return 0;
    struct job_spec job = { 0 };
    struct cmsghdr *head = CMSG_FIRSTHDR(&msg);
    if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || !head || head->cmsg_type != SCM_RIGHTS ||
        head->cmsg_len < CMSG_LEN(3 * sizeof(int)) ||
        head->cmsg_len > CMSG_LEN(EMBRYO_JOB_FDS * sizeof(int)))
        return err_set(e, ERR_PROTOCOL, 0, "a job came without its descriptors");
    int received[EMBRYO_JOB_FDS], which[EMBRYO_JOB_FDS];
    size_t n_received = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(received, CMSG_DATA(head), n_received * sizeof(int));
    struct unpacker u = { .at = bytes, .left = (size_t)n };
    job.flags = unpack_u32(&u);
    uint32_t bundle = unpack_u32(&u);
    size_t n_expected = list_fds(bundle == 1, job_is_session(&job), which);
    if (n_received != n_expected || bundle > 1 || job.flags & ~(uint32_t)JOB_FLAGS_ALL)
        u.failed = true;
    for (int i = 0; i < SESSION_FDS; i++)
        ret_fds[i] = -1;
    for (size_t i = 0; i < n_received; i++)
        ret_fds[i < n_expected ? which[i] : JOB_FD_OUTPUTS] = received[i];
    for (int i = 0; i < LIMIT_COUNT; i++)
        job.limits.v[i] = unpack_u64(&u);
    job.argv = unpack_strv(&u, STRINGS_MAX);
    job.envp = unpack_strv(&u, STRINGS_MAX);
    if (unpack_end(&u, "job", e)) {
        free(job.argv);
        free(job.envp);
        return -1;
    }
    *ret = job;
    return 1;
}

#include "jar/embryo_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fdio.h"
#include "base/pack.h"

enum { STRINGS_MAX = 8192 };

int embryo_job_send(int fd, const struct job_spec *job, const int fds[EMBRYO_JOB_FDS],
                    struct err *e)
{
    char bytes[EMBRYO_JOB_MAX_BYTES];
    struct packer p = { .at = bytes, .left = sizeof bytes };
    for (int i = 0; i < LIMIT_COUNT; i++)
        pack_u64(&p, job->limits.v[i]);
    pack_strv(&p, job->argv);
    pack_strv(&p, job->envp);
    if (p.failed) {
        explicit_bzero(bytes, sizeof bytes);
        return err_set(e, ERR_TOO_LARGE, 0, "the arguments and environment are too large");
    }
    size_t n = fds[JOB_FD_BUNDLE] < 0 ? EMBRYO_JOB_FDS - 1 : EMBRYO_JOB_FDS;
    struct iovec iov = { bytes, sizeof bytes - p.left };
    ssize_t sent = fd_send(fd, &iov, 1, fds, n, MSG_DONTWAIT);
    explicit_bzero(bytes, iov.iov_len); /* every jar begins as a copy of this process */
    if (sent < 0)
        return err_set(e, ERR_KERNEL, errno, "send a job to an embryo");
    return 0;
}

int embryo_job_receive(int fd, char bytes[EMBRYO_JOB_MAX_BYTES], struct job_spec *ret,
                       int ret_fds[EMBRYO_JOB_FDS], struct err *e)
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
    ret_fds[JOB_FD_BUNDLE] = -1;
    memcpy(ret_fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
    struct unpacker u = { .at = bytes, .left = (size_t)n };
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

#include "jar/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fdio.h"
#include "base/pack.h"

enum { JOB_STRINGS_MAX = 8192 };

int job_send(int fd, const struct job_message *m, struct err *e)
{
    char bytes[JOB_MAX_BYTES];
    struct packer p = { .at = bytes, .left = sizeof bytes };
    for (int i = 0; i < LIMIT_COUNT; i++)
        pack_u64(&p, m->limits.v[i]);
    pack_strv(&p, m->argv);
    pack_strv(&p, m->envp);
    if (p.failed) {
        explicit_bzero(bytes, sizeof bytes);
        return err_set(e, ERR_TOO_LARGE, 0, "the arguments and environment are too large");
    }
    size_t n = 0;
    while (n < JOB_FDS && m->fds[n] >= 0)
        n++;
    struct iovec iov = { bytes, sizeof bytes - p.left };
    ssize_t sent = fd_send(fd, &iov, 1, m->fds, n, MSG_DONTWAIT);
    explicit_bzero(bytes, iov.iov_len); /* every jar begins as a copy of this process */
    if (sent < 0)
        return err_set(e, ERR_KERNEL, errno, "give a program its job");
    return 0;
}

int job_receive(int fd, char bytes[JOB_MAX_BYTES], struct job_message *ret, struct err *e)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(JOB_FDS * sizeof(int))];
    } control;
    struct iovec iov = { bytes, JOB_MAX_BYTES };
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
    struct job_message m = { .fds = { -1, -1, -1, -1 } };
    struct cmsghdr *head = CMSG_FIRSTHDR(&msg);
    if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || !head || head->cmsg_type != SCM_RIGHTS ||
        head->cmsg_len < CMSG_LEN(3 * sizeof(int)) ||
        head->cmsg_len > CMSG_LEN(JOB_FDS * sizeof(int)))
        return err_set(e, ERR_PROTOCOL, 0, "a job came without its descriptors");
    memcpy(m.fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
    struct unpacker u = { .at = bytes, .left = (size_t)n };
    for (int i = 0; i < LIMIT_COUNT; i++)
        m.limits.v[i] = unpack_u64(&u);
    m.argv = unpack_strv(&u, JOB_STRINGS_MAX);
    m.envp = unpack_strv(&u, JOB_STRINGS_MAX);
    if (unpack_end(&u, "job", e))
        return -1; /* whoever cannot read its job ends, and its memory with it */
    *ret = m;
    return 1;
}

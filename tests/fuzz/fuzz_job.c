/* A job message, as an embryo receives it: bytes and descriptors. The first byte is the number of
 * descriptors. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/strv.h"
#include "jar/embryo_job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t length_of(char *const *list)
{
    size_t n = 0;
    for (; list && *list; list++)
        n += strlen(*list) + 1;
    return n;
}

static void receive(int fd)
{
    static char bytes[EMBRYO_JOB_MAX_BYTES];
    int fds[SESSION_FDS];
    struct job_spec job = { 0 };
    struct err e;
    for (int i = 0; i < SESSION_FDS; i++)
        fds[i] = -1;
    if (embryo_job_receive(fd, bytes, &job, fds, &e) == 1) {
        if (length_of(job.argv) + length_of(job.envp) > sizeof bytes)
            abort();
        free(job.argv);
        free(job.envp);
    }
    for (int i = 0; i < SESSION_FDS; i++)
        fd_close(&fds[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int pair[2], sent[FD_SEND_MAX];
    if (size == 0)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        abort();
    size_t n = data[0] % (EMBRYO_JOB_FDS + 1);
    n = n < 3 ? 0 : n; /* the embryo ends without closing one or two */
    for (size_t i = 0; i < FD_SEND_MAX; i++)
        sent[i] = pair[0];
    struct iovec part = { (void *)(data + 1), size - 1 };
    if (fd_send(pair[0], &part, 1, sent, n, MSG_DONTWAIT) >= 0)
        receive(pair[1]);
    (void)close(pair[0]);
    (void)close(pair[1]);
    return 0;
}

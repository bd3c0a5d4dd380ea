/* jar/job.h — a job on its way to an embryo: one datagram, with descriptors.
 * Sent by: warden. Received by: the embryo, before guest code runs in it. */
#pragma once

#include "base/err.h"
#include "spec/limit.h"

enum { JOB_MAX_BYTES = 128 << 10 };

/* stdin, stdout, stderr, and the files if they are to be unpacked */
enum { JOB_FD_BUNDLE = 3, JOB_FDS = 4 };

struct job_message {
    struct limits limits;
    char **argv, **envp;
    int fds[JOB_FDS]; /* -1: none */
};

/* Never waits. */
[[nodiscard]] int job_send(int fd, const struct job_message *m, struct err *e);
/* Waits. The strings point into `bytes`; the two arrays are the caller's to free. 1 with a job, 0 when there will be none. */
[[nodiscard]] int job_receive(int fd, char bytes[JOB_MAX_BYTES], struct job_message *ret,
                              struct err *e);

/* jar/embryo_job.h — a job on its way to an embryo: one datagram, with descriptors, and
 * a second one if it has a network.
 * Sent by: warden. Received by: the embryo, before guest code runs in it. */
#pragma once

#include "base/err.h"
#include "spec/job.h"

enum {
    EMBRYO_JOB_MAX_BYTES = 128 << 10,
    EMBRYO_JOB_FDS = 5, /* of a message at most */
};

/* Sends the flags, limits, arguments and environment: an embryo needs no more. Never waits. The
 * descriptors are the three standard ones, the bundle if it is not -1, and the channel of a
 * session. */
[[nodiscard]] int embryo_job_send(int fd, const struct job_spec *job, const int fds[SESSION_FDS],
                                  struct err *e);
/* A job with JOB_NETWORK has two messages. The second one says that its network is made; the embryo prepares the
 * job meanwhile, and runs no guest code before. */
[[nodiscard]] int embryo_job_release(int fd, struct err *e);
/* Waits for the second message. False: it will not come. */
bool embryo_job_await_release(int fd);
/* Waits. The strings point into `bytes`; the two lists are the caller's to free. 1 with a job, 0
 * when there will be none. A descriptor that did not come is -1. */
[[nodiscard]] int embryo_job_receive(int fd, char bytes[EMBRYO_JOB_MAX_BYTES], struct job_spec *ret,
                                     int ret_fds[SESSION_FDS], struct err *e);

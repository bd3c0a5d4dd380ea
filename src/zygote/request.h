/* zygote/request.h — the requests of a warden to a zygote, over SOCK_SEQPACKET. The layout is
 * fixed: both sides are of one build. Sent by: warden. Received by: zygote, which sends one
 * message, when it has booted. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "jar/cgroup.h"
#include "spec/isolation.h"
#include "spec/limit.h"

enum { ZYGOTE_FD = 3 }; /* the zygote's end */

/* Fork an embryo into this jar. */
struct zygote_request {
    struct isolation isolation;
    struct limits limits;
    int32_t cgroup_version; /* 0: no cgroup */
    int32_t cgroup_slots;
    uint32_t flags; /* of the jobs that it may get: JOB_NO_SOCKETS or 0 */
    int32_t slate;  /* 1: the last descriptor is its slate; 0: it has none */
    int32_t nice;   /* of an embryo that no run waits for */
};

/* The descriptors of a request, in this order; then one for each slot of the cgroup,
 * and the slate. */
enum { REQUEST_FD_INIT, REQUEST_FD_REPORT, REQUEST_FD_JOB, REQUEST_FD_CGROUP };
enum { REQUEST_FDS_MAX = REQUEST_FD_CGROUP + CGROUP_SLOTS + 1 };

/* The zygote has booted, or failed with this error. */
struct zygote_hello {
    struct err err;
};

/* cli/verify/reporter.h — the process that reads the results, judges the checks and reports them.
 * It has the uid and the confinement of a keeper, because results hold bytes that programs wrote,
 * and main may be root.
 *
 * REPORTER-1 main reads no byte of a result: it passes them to the reporter, with their length. */
#pragma once

#include <sys/types.h>

#include "cli/verify/check.h"
#include "cli/verify/pool.h"
#include "run/keeper_uid.h"

struct reporter_options {
    bool json, verbose;
    int junit_fd; /* -1: no such report */
};

/* main's side */
struct reporter {
    pid_t pid;
    int fd;
    struct keeper_uid uid;
};
#define REPORTER_INIT                              \
    {                                              \
        .pid = 0, .fd = -1, .uid = KEEPER_UID_INIT \
    }
void reporter_done(struct reporter *r);

[[nodiscard]] int reporter_start(struct reporter *r, struct checks *all,
                                 const struct reporter_options *o, struct err *e);
/* A run is over. `arg` is the struct reporter. */
pool_on_end reporter_send;
/* No more runs follow: waits for the report, and returns the exit status of the command, or -1. */
[[nodiscard]] int reporter_finish(struct reporter *r, struct err *e);

enum { VERIFY_FAILED = 1, VERIFY_CANCELLED = 130 };

/* cli/run/run_porter.h — the porter of `belljar run` without a service, for the life of one run.
 * Runs in: main. The caller is its operator: it has the rights of the caller on the network. */
#pragma once

#include "cli/run/run_arguments.h"
#include "porter/porter.h"
#include "run/keeper_uid.h"

struct run_porter {
    struct porter_process process;
    struct keeper_uid uid;
    int keeper_fd; /* the socket of the keeper; -1: the run has no network */
};
#define RUN_PORTER_INIT                                                         \
    {                                                                           \
        .process = PORTER_PROCESS_INIT, .uid = KEEPER_UID_INIT, .keeper_fd = -1 \
    }

/* Starts none if the run has no network. */
[[nodiscard]] int run_porter_start(struct run_porter *p, const struct run_arguments *o,
                                   struct err *e);
/* After the end of the keeper. */
void run_porter_done(struct run_porter *p);

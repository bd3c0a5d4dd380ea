/* run/keeper_uid.h — the host uid of a keeper whose parent is root.
 * Runs in: the process that starts the keeper.
 * No two keepers have the same uid: a keeper that a guest has taken over can neither open the
 * files of another keeper nor send it a signal. A lock proves that nobody else has the uid, and the
 * kernel releases it when the last process that holds it dies. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum keeper_of {
    KEEPER_OF_COMMAND, /* a fresh uid for each `belljar run` */
    KEEPER_OF_STATE,   /* the uid that owns STATE/data */
};

struct keeper_uid {
    uid_t uid;
    int lock_fd; /* -1: no uid of its own, the keeper has that of its parent */
};
#define KEEPER_UID_INIT \
    {                   \
        .lock_fd = -1   \
    }

/* True if this process is root and the machine has these uids. A user namespace may lack them. */
bool keeper_uid_possible(void);

/* Takes `wanted` if it is of this range and free, otherwise a random free uid. The parent holds the
 * lock until the keeper is gone. */
[[nodiscard]] int keeper_uid_take(struct keeper_uid *ret, enum keeper_of of, uid_t wanted,
                                  struct err *e);
/* As above for a command. Without such uids the keeper has the uid of this process. */
[[nodiscard]] int keeper_uid_for_command(struct keeper_uid *ret, struct err *e);
void keeper_uid_done(struct keeper_uid *k);

/* True for a uid that owns, or owned, the data of a service of root. */
bool keeper_uid_of_state(uid_t uid);
/* True if no running service has this uid. */
bool keeper_uid_is_free(uid_t uid);

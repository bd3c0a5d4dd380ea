/* service/state.h — the directory with the permanent data of a service.
 *     STATE/              owned by the operator; others may pass through
 *     STATE/lock          held by the supervisor; contains its pid
 *     STATE/belljar.sock  for the operator alone
 *     STATE/data/         owned by the keeper: database and outputs
 * Runs in: supervisor, and commands that read the database. */
#pragma once

#include <sys/types.h>

#include "base/err.h"

enum { STATE_PATH_MAX = 1024 };

struct state {
    char path[STATE_PATH_MAX]; /* absolute, without links */
    int dir_fd, lock_fd;
};
#define STATE_INIT                   \
    {                                \
        .dir_fd = -1, .lock_fd = -1, \
    }
void state_done(struct state *s);

/* `option` of --state, or NULL: $BELLJAR_STATE, else /var/lib/belljar for root, else
 * ${XDG_STATE_HOME:-$HOME/.local/state}/belljar. */
[[nodiscard]] int state_choose(const char *option, char *out, size_t size, struct err *e);

/* Creates missing parts. Refuses a directory that belongs to another user or that others can write
 * to. */
[[nodiscard]] int state_open(struct state *ret, const char *path, struct err *e);
/* ERR_CONFLICT with the pid if another service holds the lock. */
[[nodiscard]] int state_lock(struct state *s, struct err *e);
/* The pid of the service that uses the directory; 0: none. */
pid_t state_holder(const char *path);

/* The uid that will own the data if the current user starts the service: the keeper's. */
uid_t state_data_owner(void);
/* Creates STATE/data for this owner, or gives it to the owner if it belongs to root or the keeper.
 * Any other owner is refused. */
[[nodiscard]] int state_data(const struct state *s, uid_t owner, struct err *e);

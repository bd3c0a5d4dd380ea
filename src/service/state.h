/* service/state.h — the directory where a service keeps what outlives it.
 *     STATE/              the operator's; others may pass
 *     STATE/lock          held by the supervisor; its pid
 *     STATE/belljar.sock  for the operator alone
 *     STATE/data/         the keeper's: database and outputs
 * Runs in: supervisor, and commands that look into the database. */
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

/* Makes what is missing. What belongs to somebody else, or that others can write to, is refused. */
[[nodiscard]] int state_open(struct state *ret, const char *path, struct err *e);
/* ERR_CONFLICT, naming the pid, while another service has it. */
[[nodiscard]] int state_lock(struct state *s, struct err *e);
/* The pid of the service that has the directory; 0: none. */
pid_t state_holder(const char *path);

/* The uid that data belong to when we start the service: the keeper's. */
uid_t state_data_owner(void);
/* Makes STATE/data for this owner, or gives it to them where it is root's or the keeper's; a stranger's is refused. */
[[nodiscard]] int state_data(const struct state *s, uid_t owner, struct err *e);

/* service/state.h — the directory with the permanent data of a service.
 *     STATE/              owned by the operator; others may pass through
 *     STATE/lock          held by the supervisor; contains its pid
 *     STATE/belljar.sock  for the operator alone
 *     STATE/keeper        the uid of the keeper, if root starts the service; root's alone
 *     STATE/audit.seals   seals of the audit log; only the operator writes them
 *     STATE/audit.key     the key of the next seal; the operator's alone
 *     STATE/data/         owned by the keeper: database and outputs
 * Runs in: supervisor, and commands that read the database. */
#pragma once

#include <stdbool.h>
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

/* Makes a new directory in $TMPDIR or /tmp, which others may pass through. */
[[nodiscard]] int state_make_temporary(char *out, size_t size, struct err *e);
/* Removes the directory with everything in it. */
void state_remove(const struct state *s);

/* Creates missing parts. Refuses a directory that belongs to another user or that others can write
 * to. */
[[nodiscard]] int state_open(struct state *ret, const char *path, struct err *e);
/* ERR_CONFLICT with the pid if another service holds the lock. */
[[nodiscard]] int state_lock(struct state *s, struct err *e);
/* The pid of the service that uses the directory; 0: none. */
pid_t state_holder(const char *path);

/* The keeper's uid in STATE/keeper; 0 if there is none. */
[[nodiscard]] int state_read_keeper(const struct state *s, uid_t *ret, struct err *e);
/* `replace`: also if the file exists; otherwise the number in it stays. */
[[nodiscard]] int state_write_keeper(const struct state *s, uid_t uid, bool replace, struct err *e);

/* Creates STATE/data for this owner. Data that belong to root or to another keeper are handed over,
 * with every file. Any other owner is refused. The caller holds the lock, so that nobody uses them. */
[[nodiscard]] int state_data(const struct state *s, uid_t owner, struct err *e);
/* The owner of STATE/data; without data, the uid of the keeper that will run. */
[[nodiscard]] int state_owner(const struct state *s, uid_t *ret, struct err *e);
/* Creates STATE/data, if it is missing, for the keeper that will run. For commands that write to the
 * database before the service does. */
[[nodiscard]] int state_make_data(const struct state *s, struct err *e);

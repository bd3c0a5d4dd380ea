/* cli/commands/service_db.h — the database of a service, for commands that open it themselves. A
 * process of root first becomes the owner of the data, for good. So it leaves no file of root among
 * the files of the keeper, and it parses the data of the keeper without the rights of root. */
#pragma once

#include "base/err.h"
#include "service/state.h"
#include "store/db.h"

struct service_db {
    struct db *db;
    char data_dir[STATE_PATH_MAX + 8];
};
void service_db_done(struct service_db *h);

/* Becomes the owner of the data, for good. `state` is the value of --state, or NULL. */
[[nodiscard]] int service_db_become_owner(const char *state, struct err *e);
/* ERR_NOT_FOUND, with a next step, if there is no history. */
[[nodiscard]] int service_db_open(struct service_db *ret, const char *state, enum db_mode mode,
                                  struct err *e);
/* "2026-01-31 12:00:00", UTC. */
const char *service_db_time(int64_t ms, char *out, size_t size);

/* store/backup.h — a copy of the database while a service writes to it, and the files that its rows
 * name. Runs in: commands.
 *
 * Invariant
 * BACKUP-1 A copy is one state of the database: every change of a transaction, or none. */
#pragma once

#include "store/db.h"

/* Within db_begin(): writes the database, as this transaction sees it, to an empty file. It takes
 * room for a second copy beside the database, which has no name and goes with this process. */
[[nodiscard]] int db_copy(struct db *db, int to_fd, struct err *e);

/* A file below the directory of the database that a row of this transaction names. An optional one
 * need not exist. Returns -1 to stop. */
typedef int db_file_each(void *context, const char *dir, const char *name, bool optional,
                         struct err *e);
[[nodiscard]] int db_each_file(struct db *db, db_file_each *each, void *context, struct err *e);

/* Reads every page and index. ERR_CONFLICT with the first fault. */
[[nodiscard]] int db_check(struct db *db, struct err *e);

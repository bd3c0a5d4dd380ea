/* store/db.h — one connection to the database, and the schema with its versions.
 * Runs in: a thread of the store's, or a command. SQLite in WAL mode. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct db;

enum db_mode { DB_WRITE, DB_READ };
/* A connection to dir/belljar.db, one thread's at a time; large outputs live beside it, in dir/output/. DB_WRITE makes what is
 * missing and brings the schema up to date. A schema newer than this program, or a file that is no database, is refused with
 * the path and what to do. */
[[nodiscard]] int db_open(struct db **ret, const char *dir, enum db_mode mode, struct err *e);
void db_close(struct db *db);

[[nodiscard]] int db_begin(struct db *db, struct err *e);
[[nodiscard]] int db_commit(struct db *db, struct err *e);
void db_rollback(struct db *db);

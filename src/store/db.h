/* store/db.h — one connection to the database, and the schema with its versions. Runs in: a store
 * thread, or a command. SQLite in WAL mode. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct db;

enum db_mode { DB_WRITE, DB_READ };
/* Opens dir/belljar.db for one thread at a time. Large outputs are files in dir/output/. DB_WRITE
 * creates missing files and updates the schema. A schema newer than this program, or a file that is
 * not a database, is refused with the path and advice. */
[[nodiscard]] int db_open(struct db **ret, const char *dir, enum db_mode mode, struct err *e);
void db_close(struct db *db);

[[nodiscard]] int db_begin(struct db *db, struct err *e);
[[nodiscard]] int db_commit(struct db *db, struct err *e);
void db_rollback(struct db *db);
/* Writes one small row, to find out whether the database can be written. */
[[nodiscard]] int db_probe(struct db *db, int64_t now_ms, struct err *e);

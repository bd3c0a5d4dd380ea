/* store/run_columns.h — private to the room: reads a row of `runs` from a query. Runs in: a store
 * thread, or a command. */
#pragma once

#include "store/db_query.h"
#include "store/run_rows.h"

/* The columns that run_record_take() reads, in its order; the table is `r`. */
#define RUN_COLUMNS                                                                        \
    "r.seq, r.state, r.id, r.language, r.verdict, r.api_key, r.thread, r.artifact, "       \
    "r.batch, r.surface, r.created_ms, r.started_ms, r.finished_ms, r.wall_us, r.cpu_us, " \
    "r.memory_peak, r.journal_in_file"
void run_record_take(struct query *q, struct run_record *r);

/* Adds to the total size of all runs. */
/* Counts bytes for the history of a key; key NULL: of callers without one. */
[[nodiscard]] int run_bytes_add(struct db *db, const char *key, int64_t bytes, struct err *e);
/* Counts bytes that are stored on behalf of a run in other tables. */
[[nodiscard]] int run_charge(struct db *db, const char *run_id, int64_t bytes, struct err *e);

/* store/runs_row.h — the room's own: a row of `runs` from a query. Runs in: where runs.h does. */
#pragma once

#include "store/runs.h"
#include "store/sql.h"

/* What run_row_take() reads, in its order; the table is `r`. */
#define RUN_COLUMNS                                                                        \
    "r.seq, r.state, r.id, r.language, r.verdict, r.api_key, r.thread, r.artifact, "       \
    "r.batch, r.surface, r.created_ms, r.started_ms, r.finished_ms, r.wall_us, r.cpu_us, " \
    "r.memory_peak, r.journal_in_file"
void run_row_take(struct query *q, struct run_row *r);

/* What all runs take together. */
[[nodiscard]] int run_bytes_add(struct db *db, int64_t bytes, struct err *e);

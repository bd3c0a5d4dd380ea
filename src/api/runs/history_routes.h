/* api/runs/history_routes.h — runs that are over, from the store. Runs in: keeper; the reading in the store's threads. */
#pragma once

#include "api/kernel/api.h"
#include "api/runs/stream.h"

/* A result shows this much of each stream; GET /v1/runs/{id}/stdout has all. */
enum { RUN_INLINE_MAX = 1 << 20 };

/* Whoever may read sees every run; whoever may only run sees those of its own key. */
bool history_may_see(const struct api_call *c, const char *key);

/* Each answers the call, whose first parameter is the run's id. */
void history_get_run(struct api_call *c);
void history_get_debug_report(struct api_call *c);
void history_get_events(struct api_call *c, enum stream_format format, uint64_t after);
void history_get_stream(struct api_call *c, enum journal_kind kind);
void history_list_files(struct api_call *c);
void history_get_file(struct api_call *c);
void history_list_runs(struct api_call *c);
/* 409 when the run is over, 404 when there is none. */
void history_answer_over(struct api_call *c);

/* A row of the history as lists show it. A new reference. */
json_t *history_row_object(const struct run_record *r);

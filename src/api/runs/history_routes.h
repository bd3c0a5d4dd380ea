/* api/runs/history_routes.h — answers about runs from the history. Runs in: keeper; a thread of the
 * store reads. run_routes.c and diagnosis_routes.c have the routes. */
#pragma once

#include "api/kernel/api.h"
#include "api/runs/stream.h"

/* Whether a run of the key of this name, accepted at created_ms, is the caller's. A key does not own
 * the runs of an earlier key of its name. */
bool history_is_own(const struct api_call *c, const char *key, int64_t created_ms);
/* A caller with scope `read` sees every run; one with scope `run` sees its own. */
bool history_may_see(const struct api_call *c, const char *key, int64_t created_ms);

/* The journal of a row that was read with RUN_WITH_JOURNAL; journal_done() follows, also on failure. */
[[nodiscard]] int history_open_journal(const struct api_call *c, const struct run_record *r,
                                       struct journal *j, struct err *e);
/* The result of a row without its streams, or its state if there is none. A new reference. */
json_t *history_result(const struct run_record *r);

/* Each answers the call, whose first parameter is the id of the run. */
void history_get_run(struct api_call *c);
void history_get_request(struct api_call *c);
void history_get_debug_report(struct api_call *c);
void history_get_events(struct api_call *c, enum stream_format format, uint64_t after);
void history_get_stream(struct api_call *c, enum journal_kind kind);
void history_list_files(struct api_call *c);
void history_get_file(struct api_call *c);
void history_list_runs(struct api_call *c);
/* 409 if the run is over, 404 if there is none. */
void history_answer_over(struct api_call *c);

/* api/runs/history_routes.h — answers about runs from the history. Runs in: keeper; a thread of the
 * store reads. run_routes.c and diagnosis_routes.c have the routes. */
#pragma once

#include "api/kernel/api.h"
#include "api/runs/stream.h"

/* A caller with scope `read` sees every run; one with scope `run` sees the runs of its own key. */
bool history_may_see(const struct api_call *c, const char *key);

/* Each answers the call, whose first parameter is the id of the run. */
void history_get_run(struct api_call *c);
void history_get_debug_report(struct api_call *c);
void history_get_events(struct api_call *c, enum stream_format format, uint64_t after);
void history_get_stream(struct api_call *c, enum journal_kind kind);
void history_list_files(struct api_call *c);
void history_get_file(struct api_call *c);
void history_list_runs(struct api_call *c);
/* 409 if the run is over, 404 if there is none. */
void history_answer_over(struct api_call *c);

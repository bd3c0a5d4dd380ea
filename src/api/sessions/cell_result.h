/* api/sessions/cell_result.h — a cell as JSON. Runs in: keeper, and threads of its store. */
#pragma once

#include "api/kernel/api.h"
#include "run/journal.h"

extern const struct api_field cell_reply[], cell_event_reply[];

/* The answer of a cell that is over: fields of the result of its run, and its outputs. The caller
 * keeps its references. *room: see event_add_outputs(). A new reference. */
json_t *cell_object(const json_t *result, const struct journal *j, size_t *room);
/* A cell in the history of a session, with its code. Its row may be that of a branch. */
json_t *cell_row_object(const struct run_record *r, const char *session, int output_dir_fd,
                        size_t *room);

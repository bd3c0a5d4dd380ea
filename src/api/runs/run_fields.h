/* api/runs/run_fields.h — from the JSON of a run request to something that can be run. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

/* The fields of POST /v1/runs. Other surfaces embed them. */
extern const struct api_field run_fields[];

/* A flag of such an object. */
bool run_flag(const json_t *request, const char *key, bool otherwise);
/* "limits" for surfaces that know one time alone: CPU time is at least as long, so that a busy loop meets the time it was
 * given and not less. NULL when memory ran out. */
json_t *run_time_limits(const struct settings *s, uint64_t wall_ms);

/* Makes a spec of an object that was validated against run_fields. What is wrong is the caller's fault; ret_field gets the
 * field's name. Fills in language, files, limits (within the settings' maxima), key, actor, thread, surface, the canonical
 * request and the code; a surface may set artifact and batch afterwards. */
[[nodiscard]] int run_spec_from_json(const struct api *api, const struct api_identity *who,
                                     const json_t *request, const char *surface,
                                     struct run_spec *ret, char *ret_field, size_t field_size,
                                     struct err *e);

/* The result as a surface of JSON shows it: x->result_json with stdout and stderr (up to inline_max bytes each), timings,
 * diagnosis and what the request named. A new reference. */
json_t *run_result_object(const struct run *x, uint64_t inline_max);
/* "stdout" and "stderr" of a journal, up to inline_max bytes each; "stdout_cut": true when there is more. */
void run_add_streams(json_t *object, const struct journal *j, uint64_t inline_max);

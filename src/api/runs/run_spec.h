/* api/runs/run_spec.h — from the JSON of a run request to a run_spec. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

/* The fields of POST /v1/runs. Other surfaces embed them. */
extern const struct api_field run_fields[];

/* The last fields of a request that becomes one run: how it is answered, and for whom it is. */
#define SUBMISSION_FIELDS                                                                         \
    { "wait", FIELD_BOOL, .help = "false answers 202 with the id at once; true by default" },     \
        { "stream", FIELD_BOOL,                                                                   \
          .help = "answer with events during the run (NDJSON, or SSE by the header Accept)" },    \
        { "cancel_on_disconnect", FIELD_BOOL, .help = "cancel the run if the client goes away" }, \
        { "thread_id",                                                                            \
          FIELD_STRING,                                                                           \
          .min = 1,                                                                               \
          .max = 200,                                                                             \
          .help = "the session of the run",                                                       \
          .also = "session,session_id" },                                                         \
        { "permission_mode", FIELD_STRING, .one_of = permission_modes,                            \
          .help = "default, manual and acceptEdits ask a person first" },                         \
        { "metadata", FIELD_ANY, .help = "any JSON; the result returns it" },

/* A flag of such an object. */
bool run_flag(const json_t *request, const char *key, bool otherwise);
/* "limits" for surfaces that have a timeout of their own: a copy of `limits` (may be NULL) with this
 * wall time. NULL if memory ran out. */
json_t *run_wall_limit(const json_t *limits, uint64_t wall_ms);

/* Makes a spec of an object that was validated against run_fields. Every error is a mistake of the
 * caller; ret_field gets the name of the field. Fills in language, files, limits (within the maxima
 * of the settings), options, key, actor, thread, surface, the canonical request and the code. A
 * surface may set artifact and batch afterwards. */
/* An `api` without engine and core makes the spec without the checks of this machine: in a thread,
 * for run_spec_check_here() on the loop. */
[[nodiscard]] int run_spec_from_json(const struct api *api, const struct api_identity *who,
                                     const json_t *request, const char *surface,
                                     struct run_spec *ret, char *ret_field, size_t field_size,
                                     struct err *e);
/* The same for a session: language, files, env and limits, without a program. The wall time of the
 * limits is not read. */
[[nodiscard]] int run_spec_of_session(const struct api *api, const struct api_identity *who,
                                      const json_t *request, struct run_spec *ret, char *ret_field,
                                      size_t field_size, struct err *e);
[[nodiscard]] int run_spec_check_here(const struct api *api, const json_t *request,
                                      struct run_spec *spec, char *ret_field, size_t field_size,
                                      struct err *e);

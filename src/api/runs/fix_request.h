/* api/runs/fix_request.h — the request of a run again, with one file changed. Runs in: keeper. */
#pragma once

#include <jansson.h>

#include "api/kernel/api.h"
#include "fixes/fix.h"

/* NULL, or the reason why no change of a failed run is tried. */
const char *fix_refusal(const struct run *run);

/* The text of a file of the run; false: it has no such file, or no text. Borrowed. */
bool fix_source(const struct run *run, const char *file, const char **ret, size_t *ret_len);

/* A new reference. file NULL: nothing is changed. *ret_mode: its permission mode, or NULL. */
json_t *fix_request_of(const struct run *run, const char *file, const char *text, size_t len,
                       const char **ret_mode, struct err *e);

/* The spec of such a request, in the name of the client that sent the run. */
[[nodiscard]] int fix_request_spec(const struct api *api, const struct run *run,
                                   const json_t *request, const char *surface, struct run_spec *ret,
                                   struct err *e);

/* api/runs/submit.h — the admission of runs: every surface submits through it. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

/* Asks approvals.h whether the run may start, and submits it to the engine. mode NULL: the setting.
 * A run that a rule denies is accepted and ends as `rejected`. A run that needs an approval waits
 * (x->state is RUN_WAITING). Takes over the spec, also on failure. */
[[nodiscard]] int api_submit(struct api *api, struct run_spec *spec, const char *mode,
                             unsigned flags, struct run_watch *w, struct run **ret, struct err *e);

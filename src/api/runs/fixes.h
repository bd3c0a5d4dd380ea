/* api/runs/fixes.h — tries of the suggestions for a failed run: `"fixes": "try"`. Runs in: keeper.
 *
 * FIXES-1 A try is a run of its own: it has the limits, the input and the rights of the failed run,
 *         its row is in the history, and rules and permission modes hold for it. A try that a person
 *         would have to approve does not run.
 * FIXES-2 A run has up to FIXES_MAX tries and one run of the program as it was. After
 *         FIXES_MS, or when a client cancels the failed run, they are cancelled.
 *         A run whose end told no line runs once more with a look inside (second_look.h).
 * FIXES-3 A run with a network is not tried, unless its request says `try_with_network`. */
#pragma once

#include "api/kernel/api.h"

enum { FIXES_MS = 15000, FIXES_MAX = 4 };

/* If the spec asks for it, the failed run is tried before its record is written. */
void fixes_arm(struct api *api, struct run_spec *spec);

/* The fields of `fixes` in a result. */
extern const struct api_field fixes_reply[];

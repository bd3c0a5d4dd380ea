/* run/level.h — a warden at a requested isolation level, and the proof that a level works.
 * Runs in: the process that starts the keeper; `belljar doctor`. */
#pragma once

#include "base/err.h"
#include "spec/isolation.h"
#include "warden/warden.h"

/* LEVEL_AUTO takes the strongest level that works on this machine. Any other level is taken as it
 * is; if it does not work, the error names it. bounds, mount_roots: see warden_start(). */
[[nodiscard]] int level_open_warden(enum level level, const struct run_bounds *bounds,
                                    char *const *mount_roots, struct warden *ret, struct err *e);

/* Starts a warden at this level, runs /usr/bin/true in one jar and stops the warden. *ret is the
 * isolation that the warden promised. */
[[nodiscard]] int level_try(enum level level, struct isolation *ret, struct err *e);

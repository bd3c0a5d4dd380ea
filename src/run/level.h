/* run/level.h — a warden of our own, at the level asked for or the best there is.
 * Runs in: the process that starts the keeper. */
#pragma once

#include "base/err.h"
#include "spec/isolation.h"
#include "warden/warden.h"

/* LEVEL_AUTO takes the strongest level that works here. Otherwise exactly this one, or an error that names it. */
[[nodiscard]] int level_open_warden(enum level level, struct warden *ret, struct err *e);

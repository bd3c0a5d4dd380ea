/* base/caps.h — giving up capabilities. Runs in: every process that is about to have none. */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* Empties the bounding set, where we may (CAP_SETPCAP): before a change of uid takes that right away. */
[[nodiscard]] int caps_drop_bounding(struct err *e);

/* Empties every other capability set; what is in keep_permitted stays in the permitted set, where it lies idle.
 * Checked afterwards. */
[[nodiscard]] int caps_clear(uint64_t keep_permitted, struct err *e);

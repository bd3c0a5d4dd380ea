/* base/caps.h — giving up capabilities. Runs in: every process that drops its privileges. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Whether the calling process has this capability now. False if that cannot be found out. */
bool caps_has(int cap);

/* Empties the bounding set if CAP_SETPCAP allows it. A change of uid takes that capability away, so
 * this comes first. */
[[nodiscard]] int caps_drop_bounding(struct err *e);

/* Empties every other capability set. The capabilities in keep_permitted stay in the permitted set,
 * where they have no effect. The result is read back and checked. */
[[nodiscard]] int caps_clear(uint64_t keep_permitted, struct err *e);

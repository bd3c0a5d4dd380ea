/* api/sessions/branch_fixes.h — candidates of branches from the diagnosis of a failed cell. Runs in:
 * keeper. */
#pragma once

#include "api/kernel/api.h"

/* Reads the cell `fixes_of` of the body from the history. Its code with each suggested line becomes
 * `candidates` of the body, and the changes become `diffs`. Then calls `then`, or fails the call. */
void branch_fixes_find(struct api_call *c, void (*then)(struct api_call *c));

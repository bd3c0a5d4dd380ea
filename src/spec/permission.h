/* spec/permission.h — modes: does a person approve before code runs? Runs in: keeper, supervisor.
 * Pure data. */
#pragma once

#include <stdbool.h>

/* word, a person is asked first */
#define PERMISSION_MODE_TABLE(X) \
    X("default",           true)  \
    X("manual",            true)  \
    X("acceptEdits",       true)  \
    X("plan",              false) \
    X("bypassPermissions", false) \
    X("auto",              false)

extern const char *const permission_modes[]; /* the words; NULL-terminated */

/* 0, or -1 when there is no such mode. */
[[nodiscard]] int permission_asks(const char *mode, bool *ret_asks);

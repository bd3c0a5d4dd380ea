/* cli/run/profile_view.h — draws a profile (run/profile.h) on stderr: bars of hot functions and
 * lines, the tree of calls, and CPU and memory over time. It is as wide as the terminal, and has
 * colours on a terminal only. Runs in: the keepers of `belljar run`. */
#pragma once

#include <jansson.h>

void profile_view(const json_t *profile);

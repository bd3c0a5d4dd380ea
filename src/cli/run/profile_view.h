/* cli/run/profile_view.h — a profile (run/profile.h) for people: bars of hot functions and lines, the tree of calls, and CPU and
 * memory over time, on stderr. Runs in: the keeper of `belljar run`. As wide as the terminal; colours on a terminal alone. */
#pragma once

#include <jansson.h>

void profile_view(const json_t *profile);

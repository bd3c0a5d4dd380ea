/* api/runs/second_look.h — the place where a program was stopped, crashed or ended in silence: it runs
 * again with a profiler, a C program with the sanitizers, a shell with a trace. Runs in: keeper. */
#pragma once

#include <jansson.h>

#include "engine/run.h"

/* Whether the diagnosis has no line, and another run could tell it. */
bool look_helps(const struct run *run);
/* Makes the request of this other run. */
void look_change(const struct run *run, json_t *request);
/* If the other run ended in the same way, the diagnosis gets its line. */
void look_take(struct run *run, const struct run *other);

/* runtime/node/rehearsal.h — what driver.js needs to go once through what programs do first, and to leave no trace.
 *
 * Node compiles its own JavaScript when it is first used. A rehearsal before the fork (a module is loaded, lines are
 * printed, to a pipe that nobody reads) has that done once for all embryos: it halves the time of a short program. What it
 * changes that a program could see is put back: the count of asynchronous operations here, the rest in driver.js. */
#pragma once

#include "runtime/node/node_api.h"

/* The functions of driver.js that belong here. Nonzero: Node does not take them. */
int rehearsal_export(napi_env env, napi_value exports);

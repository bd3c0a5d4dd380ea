/* runtime/node/warmup.h — the C part of the warm-up: driver.js runs the first steps of a typical
 * program once and removes every trace of it.
 *
 * Node compiles its own JavaScript at the first use. The warm-up before the fork loads a module and
 * prints lines to a pipe that nobody reads, so that Node compiles once for all embryos. That halves
 * the time of a short program. Everything that a program could notice is put back: the count of
 * asynchronous operations here, the rest in driver.js. */
#pragma once

#include "runtime/node/node_api.h"

/* Adds the functions that driver.js calls. Nonzero: Node refused them. */
int warmup_export(napi_env env, napi_value exports);

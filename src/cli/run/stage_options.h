/* cli/run/stage_options.h — the stages of `belljar run`: several programs one after the other in one
 * jar, as the field "stages" of POST /v1/runs has them. Runs in: main.
 *
 * STAGE_OPTIONS-1 The service checks every field of a stage, by the table that checks requests. Only
 *                 the words of the command line are checked here. */
#pragma once

#include "cli/run/run_arguments.h"

/* --stage [NAME=]COMMAND; --expect-exit N and --stage-limit LIMIT=N of the stage before them. */
arg_apply stage_option_add, stage_option_expect, stage_option_limit;

bool stage_options_given(const struct run_arguments *o);
/* Reads the file of --stages, and refuses options that contradict stages. Afterwards o->stages is the
 * list of the request. */
[[nodiscard]] int stage_options_settle(struct run_arguments *o, struct err *e);

/* cli/run/stage_run.h — `belljar run` with stages. Runs in: main.
 * A service runs them: the one that `belljar run` would use, or a private one. */
#pragma once

#include "cli/run/run_arguments.h"

/* The operands are files and directories that the stages find in /sandbox. Exit status, or -1. */
[[nodiscard]] int stage_run(struct run_arguments *o, int argc, char **argv, struct err *e);

/* cli/run/run_command.h — a run that another command starts. Runs in: main, or a fork of it. */
#pragma once

#include "cli/run/run_arguments.h"

/* A signal must not skip the clean-up of a run that begins now. */
void run_block_signals(void);
/* Runs the program of the arguments and prints its result, as `belljar run` does. Exit status, or
 * -1. */
[[nodiscard]] int run_program(struct run_arguments *o, struct err *e);

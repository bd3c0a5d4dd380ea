/* cli/run/run_command.h — a run that another command starts. Runs in: main, or a fork of it. */
#pragma once

#include "cli/run/run_arguments.h"

/* Runs the program of the arguments and prints its result, as `belljar run` does. Exit status, or
 * -1. */
[[nodiscard]] int run_program(struct run_arguments *o, struct err *e);

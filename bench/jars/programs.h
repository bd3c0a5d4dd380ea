/* bench/jars/programs.h — the programs that the benchmark runs, in jars and outside. */
#pragma once

#include "guests.h"

enum program_id { PROGRAM_TRUE, PROGRAM_CAT, PROGRAM_BASH, PROGRAM_PYTHON, PROGRAMS };

extern const struct bench_program programs[PROGRAMS];

/* bench/programs.h — what is run, in jars and otherwise. */
#pragma once

#include "guests.h"

enum program_id { PROGRAM_TRUE, PROGRAM_CAT, PROGRAM_BASH, PROGRAM_PYTHON, PROGRAMS };

extern const struct program programs[PROGRAMS];

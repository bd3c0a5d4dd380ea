/* run/program_key.h — the key of a compiled program: a hash over everything its compiler could see
 * and everything it was told. Runs in: keeper, main. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "run/jar_run.h"
#include "spec/isolation.h"

enum { PROGRAM_KEY_SIZE = 2 * 32 + 1 };

/* Of a stage that is to be run, with these files. Which toolchain it is, is told by its files and the machine's packages:
 * what it says of its version may not be known yet. */
[[nodiscard]] int program_key(char ret[PROGRAM_KEY_SIZE], const struct jar_request *stage,
                              enum level level, const struct buf *files, struct err *e);

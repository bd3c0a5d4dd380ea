/* run/program_key.h — the key of a compiled program: a hash over everything that its compiler can
 * see. Runs in: keeper, main. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "run/jar_run.h"
#include "spec/isolation.h"

enum { PROGRAM_KEY_SIZE = 2 * 32 + 1 };

/* The key of a stage with these files. The files of the toolchain and the packages of the machine
 * identify the toolchain, because its version may not be known yet. */
[[nodiscard]] int program_key(char ret[PROGRAM_KEY_SIZE], const struct jar_request *stage,
                              enum level level, const struct buf *files, struct err *e);

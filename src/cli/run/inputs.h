/* cli/run/inputs.h — the caller's files, read with the caller's rights before anything is started. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "cli/run/run_arguments.h"
#include "cli/run/terminal.h"

struct inputs {
    const struct language *language;
    char main_name[1025];
    int bundle_fd;
    int stdin_fd;             /* what the program will read; -1: nothing */
    struct terminal terminal; /* where that comes from, when it is typed */
};
#define INPUTS_INIT                                                \
    {                                                              \
        .bundle_fd = -1, .stdin_fd = -1, .terminal = TERMINAL_INIT \
    }

void inputs_done(struct inputs *in);
/* The files again, as a bundle. Whoever has the descriptor shares its offset, and reads from the start. */
[[nodiscard]] int inputs_files(const struct inputs *in, struct buf *ret, struct err *e);
[[nodiscard]] int inputs_load(struct inputs *ret, const struct run_arguments *o, struct err *e);

/* cli/run/inputs.h — the files of the caller, read with the rights of the caller before any process
 * is started. Runs in: main. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "cli/run/run_arguments.h"
#include "cli/run/terminal.h"

struct inputs {
    const struct language *language; /* NULL: of stages */
    char main_name[1025];
    int bundle_fd;
    int stdin_fd;             /* stdin of the program; -1: empty */
    struct terminal terminal; /* the source of stdin, if it is typed */
};
#define INPUTS_INIT                                                \
    {                                                              \
        .bundle_fd = -1, .stdin_fd = -1, .terminal = TERMINAL_INIT \
    }

void inputs_done(struct inputs *in);
/* Reads the bundle from its start. All holders of the descriptor share its offset. */
[[nodiscard]] int inputs_files(const struct inputs *in, struct buf *ret, struct err *e);
/* Without a program. All of the input is read now, as far as it is no terminal. */
[[nodiscard]] int inputs_load_files(struct inputs *ret, const struct run_arguments *o,
                                    struct err *e);
[[nodiscard]] int inputs_load(struct inputs *ret, const struct run_arguments *o, struct err *e);

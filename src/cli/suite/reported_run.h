/* cli/suite/reported_run.h — a run whose result another process reads and reports: `belljar test`
 * and `belljar check`. Runs in: main, which forks both.
 *
 * REPORTED-1 main reads no byte of the result, which holds bytes of a guest. The reporter reads it
 *            from a pipe, with the uid and the confinement of a keeper. */
#pragma once

#include "base/err.h"
#include "cli/run/run_arguments.h"

enum { REPORTED_NO_RESULT = 99 /* there was no JSON: the run has said why */ };

struct reported_run {
    struct run_arguments *run; /* with json set */
    /* Reads one JSON object to the end of the pipe. The exit status, or -1. */
    int (*report)(int fd, const void *options, struct err *e);
    const void *options;
    int keep_fd; /* of the reporter; -1: none */
};

/* The limits of a compiler with this time, and the output of a program. */
struct limits reported_limits(uint64_t wall_ms);
/* Appends a file of the caller. Its name is checked. */
[[nodiscard]] int reported_file_add(struct run_arguments *run, const char *path, const char *name,
                                    struct err *e);
/* Rows for the limits of the run, with these defaults. The options of the command begin with the struct
 * run_arguments. Returns their number. */
size_t reported_limit_rows(const struct limits *defaults, struct arg_row *out);
/* The status of the reporter. If there was no result, that of the run, which has said why. */
[[nodiscard]] int reported_run(const struct reported_run *r, struct err *e);

/* cli/batch/repeat.h — runs one program, or two in turn, several times, and tells results and times with
 * their spread. Runs in: main, and a process without rights that asks and prints (cli/confined.h). */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "cli/run/run_arguments.h"

enum { REPEAT_PROGRAMS = 2, REPEAT_MAX = 1000 };
enum { REPEAT_SAME = 0, REPEAT_DIFFERENT = 1 }; /* exit status */

struct repeat {
    const char *names[REPEAT_PROGRAMS]; /* the second is NULL if there is one program */
    /* Each is the body of POST /v1/runs; or with `are_runs` the path of a run that is over. */
    char *requests[REPEAT_PROGRAMS];
    bool are_runs;
    unsigned times;
    bool json;
};
void repeat_done(struct repeat *r);

/* Reads the program of the options and its input. */
[[nodiscard]] int repeat_request(const struct run_arguments *o, char **ret, struct err *e);
/* Exit status, or -1. `o` says which service. */
[[nodiscard]] int repeat_run(struct repeat *r, struct run_arguments *o, struct err *e);
/* `belljar run --bench N`. */
[[nodiscard]] int repeat_bench(struct run_arguments *o, struct err *e);

/* cli/run/remote_request.h — a run as the service is asked for it. Pure functions but for reading the bundle. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "cli/run/inputs.h"
#include "cli/run/run_arguments.h"

/* JSON is UTF-8: arguments, variables and names that are not cannot be asked for. */
bool remote_request_possible(const struct run_arguments *o, const struct inputs *in);

/* Adds the body of POST /v1/runs. */
[[nodiscard]] int remote_request_run(const struct run_arguments *o, const struct inputs *in,
                                     bool stdin_open, struct buf *b, struct err *e);
/* Adds the body of POST /v1/runs/{id}/stdin; no bytes are its end. */
[[nodiscard]] int remote_request_stdin(const char *bytes, size_t n, struct buf *b, struct err *e);

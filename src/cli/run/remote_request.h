/* cli/run/remote_request.h — the requests of `belljar run` to a service. Runs in: main and the
 * keeper. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "cli/run/inputs.h"
#include "cli/run/run_arguments.h"

/* False if JSON cannot carry the run: it is too large, or some name, argument or variable is not
 * UTF-8. */
bool remote_request_possible(const struct run_arguments *o, const struct inputs *in);

/* The run as POST /v1/batches takes it: without the fields about the answer. NULL on failure. */
json_t *remote_request_object(const struct run_arguments *o, const struct inputs *in,
                              struct err *e);
/* A string that JSON can carry, and its encoding. */
json_t *remote_request_bytes(const char *bytes, size_t n, const char **ret_encoding);
/* Adds the body of POST /v1/runs. */
[[nodiscard]] int remote_request_run(const struct run_arguments *o, const struct inputs *in,
                                     bool stdin_open, struct buf *b, struct err *e);
/* Adds the body of POST /v1/runs/{id}/stdin; n == 0 is the end of stdin. */
[[nodiscard]] int remote_request_stdin(const char *bytes, size_t n, struct buf *b, struct err *e);

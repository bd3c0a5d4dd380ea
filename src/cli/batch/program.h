/* cli/batch/program.h — a program of `belljar batch` and `belljar compare`: the options of `belljar run` that
 * several runs share, and its request. Runs in: main, and the process without rights. */
#pragma once

#include <jansson.h>

#include "cli/run/run_arguments.h"
#include "client/client.h"

/* The rows of `belljar run` that hold for each of many runs. Returns their number. */
size_t program_rows(struct arg_row *out);
/* The operand, and the words after "--" (argv[argc] is "--" or NULL). */
[[nodiscard]] int program_take(struct run_arguments *o, char *file, char **rest, struct err *e);
/* Reads the files. The run as POST /v1/batches takes it, or NULL. */
json_t *program_request(const struct run_arguments *o, struct err *e);

/* One request with a JSON body, and the whole answer. */
[[nodiscard]] int program_ask(struct client *c, const char *path, const char *body, json_t **ret,
                              struct err *e);
/* One line of JSON on stdout. */
[[nodiscard]] int program_print(const json_t *o, struct err *e);

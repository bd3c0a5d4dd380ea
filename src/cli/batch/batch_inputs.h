/* cli/batch/batch_inputs.h — the inputs of `belljar batch`: files, directories and lists in JSON.
 * Runs in: main, with the rights of the caller. */
#pragma once

#include <jansson.h>

#include "base/err.h"

/* Adds the inputs of one operand to the list, each as POST /v1/batches takes it. */
[[nodiscard]] int batch_inputs_add(json_t *list, const char *path, struct err *e);

/* cli/run/diagnosis_view.h — the explanation of a failed run. Runs in: the keepers of `belljar
 * run`. */
#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "cli/run/run_arguments.h"

/* Whether a failure is explained: stderr is a terminal or --json is given, and --no-diagnosis is
 * not. */
bool diagnosis_view_wanted(const struct run_arguments *o);
/* Keeps the beginning and the end of the output, in bounded memory. */
void diagnosis_view_keep(struct buf *kept, const char *bytes, size_t n);
/* Prints on stderr, unless it would only repeat the program or the sentence about a limit. */
void diagnosis_view_print(const json_t *diagnosis);

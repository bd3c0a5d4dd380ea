/* cli/run/diagnosis_view.h — what a failed run of ours printed, explained. Runs in: the keepers of `belljar run`. */
#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "cli/run/run_arguments.h"

/* Whether it is to be shown: there is a terminal to read it on, and nobody said no. */
bool diagnosis_view_wanted(const struct run_arguments *o);
/* Keeps the first and the last of what is printed, in bounded memory. */
void diagnosis_view_keep(struct buf *heard, const char *bytes, size_t n);
/* On stderr. Says nothing that the program, or our own sentence about a limit, has said already. */
void diagnosis_view_print(const json_t *diagnosis);

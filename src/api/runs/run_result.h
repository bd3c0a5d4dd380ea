/* api/runs/run_result.h — a run as JSON, for every surface. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

/* A result holds up to so many bytes of each stream; GET /v1/runs/{id}/stdout returns all. */
enum { RUN_INLINE_MAX = 1 << 20 };

/* The result of a run that is over: x->result_json with stdout and stderr, up to inline_max bytes
 * each. A new reference. */
json_t *run_result_object(const struct run *x, uint64_t inline_max);
/* A sentence about the end of a program, for surfaces that have only text: "Killed by signal 11
 * (SIGSEGV)". False if the program ended by itself: ok, or an exit code. */
bool run_end_sentence(const struct result *r, char *out, size_t size);
/* A row of the history as lists show it. A new reference. */
json_t *run_row_object(const struct run_record *r);

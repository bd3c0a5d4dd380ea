/* run/result.h — what a run came to, as JSON: the same fields on every surface. Runs in: keeper. */
#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "spec/isolation.h"
#include "spec/verdict.h"

struct result {
    const char *id, *language, *version; /* version NULL: not known */
    enum verdict verdict;
    struct evidence evidence;
    struct usage usage;
    struct limits limits;
    struct isolation isolation;
    bool truncated[2];       /* stdout, stderr: more was printed than the limit */
    const struct buf *files; /* bundle of outputs */
    const char *error;       /* why, for internal_error and rejected; NULL */
    uint64_t started_at_ms;  /* Unix time; 0: it did not start */
    const char *start;       /* how, see spec/pool.h; NULL: it did not */
    /* What was found out beside; NULL: nothing. The references stay the caller's. */
    json_t *compile; /* {verdict, exit_code, stdout, stderr, usage, cached, …} of the compiler */
    json_t *diagnosis; /* diagnose/core/diagnose.h */
    json_t *tables;    /* [{columns: [{name, type}], rows: [[…]], …}] */
    json_t *profile;   /* {functions, lines, samples, …} */
};

/* Every field but stdout and stderr. NULL when memory ran out. */
json_t *result_json(const struct result *r);
/* "stdout" (exact where it is UTF-8, else readable and "stdout_base64" beside it). */
void result_add_stream(json_t *object, const char *key, const struct buf *bytes);
json_t *result_isolation(const struct isolation *iso);
/* [{name, status, size}] of a bundle of outputs. */
json_t *result_files(const struct buf *bundle);
/* {wall_ms, cpu_ms, memory_peak_bytes, pids_peak} */
json_t *result_usage(const struct usage *u);
json_t *result_limit_set(limit_set set);
json_t *result_layer_set(layer_set set);
/* "2026-01-31T12:00:00.123Z", or null for 0. */
json_t *result_time(uint64_t unix_ms);
